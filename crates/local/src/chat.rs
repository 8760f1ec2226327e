//! Chat templates: how turns are written for a model that was trained on them.
//!
//! Weights files carry their template as a program in Jinja. The families are few and well known,
//! so the template is recognised by its control tokens, and anything else is refused.

use crate::gguf::Header;
use crate::tokenizer::Tokenizer;
use crate::weights::WeightsError;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// How turns are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Template {
    ChatMl,
    Llama3,
}

impl Template {
    /// Recognises the template of a weights file.
    pub(crate) fn of(header: &Header, tokenizer: &Tokenizer) -> Result<Self, WeightsError> {
        let text = header.text("tokenizer.chat_template").unwrap_or_default();
        [Self::ChatMl, Self::Llama3]
            .into_iter()
            .find(|template| {
                let [open, _, close] = template.marks();
                text.contains(open)
                    && tokenizer.control(open).is_some()
                    && tokenizer.control(close).is_some()
            })
            .ok_or(WeightsError::Template)
    }

    /// Returns what opens a turn, what follows the role, and what closes the turn.
    fn marks(self) -> [&'static str; 3] {
        match self {
            Self::ChatMl => ["<|im_start|>", "\n", "<|im_end|>"],
            Self::Llama3 => ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
        }
    }

    /// Writes the turns, and the beginning of the model's own.
    pub(crate) fn write(self, tokenizer: &Tokenizer, turns: &[Turn]) -> Vec<u32> {
        let mut tokens = Vec::new();
        if self == Self::Llama3 {
            tokens.extend(tokenizer.control("<|begin_of_text|>"));
        }
        for turn in turns {
            self.open(tokenizer, turn.role, &turn.text, &mut tokens);
            let [_, _, close] = self.marks();
            tokens.extend(tokenizer.control(close));
            if self == Self::ChatMl {
                tokens.extend(tokenizer.encode("\n"));
            }
        }
        self.open(tokenizer, Role::Assistant, "", &mut tokens);
        tokens
    }

    fn open(self, tokenizer: &Tokenizer, role: Role, text: &str, tokens: &mut Vec<u32>) {
        let [open, named, _] = self.marks();
        tokens.extend(tokenizer.control(open));
        match self {
            Self::ChatMl => tokens.extend(tokenizer.encode(&format!("{}\n{text}", role.name()))),
            Self::Llama3 => {
                tokens.extend(tokenizer.encode(role.name()));
                tokens.extend(tokenizer.control(named));
                tokens.extend(tokenizer.encode(&format!("\n\n{text}")));
            }
        }
    }
}
