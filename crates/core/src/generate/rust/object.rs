//! Objects: structs.

use super::{KEYWORDS, NEVER, Position, Writer, has_integer, literal};
use crate::generate::model::{Form, Id, Member, Object, Presence, Rest, Type};
use crate::generate::name::{Names, snake};

impl Writer<'_> {
    pub(super) fn object(&mut self, id: Id, name: &str, object: &Object) {
        self.line("#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]");
        match object.rest {
            Rest::Closed => self.line("#[serde(remote = \"Self\", deny_unknown_fields)]"),
            Rest::Open | Rest::Typed(_) => self.line("#[serde(remote = \"Self\")]"),
        }
        let tag = self.tags.get(&id).cloned();
        let members: Vec<&Member> =
            object.members.iter().filter(|member| Some(&member.key) != tag.as_ref()).collect();
        if members.is_empty() && !matches!(object.rest, Rest::Typed(_)) {
            self.line(&format!("pub struct {name} {{}}"));
        } else {
            self.line(&format!("pub struct {name} {{"));
            let mut names = Names::without(NEVER);
            for member in members {
                self.member(id, member, &mut names);
            }
            if let Rest::Typed(of) = &object.rest {
                let field = names.unique("rest");
                self.line("    /// Members that the contract does not name.");
                self.line("    #[serde(flatten)]");
                self.read_whole(of);
                let kind = self.expression(id, &Type::Map(Box::new(of.clone())), Position::Direct);
                self.line(&format!("    pub {field}: {kind},"));
            }
            self.line("}");
        }
        self.support.objects.push(name.to_owned());
    }

    fn read_whole(&mut self, of: &Type) {
        if has_integer(of) {
            self.support.whole = true;
            self.line("    #[serde(deserialize_with = \"whole::read\")]");
        }
    }

    fn member(&mut self, owner: Id, member: &Member, names: &mut Names) {
        let field = names.unique(&snake(&member.key));
        self.document("    ", member.description.as_deref(), &[]);
        if field != member.key {
            self.attribute("    ", &[format!("rename = {}", literal(&member.key))]);
        }
        let kind = self.expression(owner, &member.of, Position::Direct);
        let raw = if KEYWORDS.contains(&field.as_str()) { "r#" } else { "" };
        match member.presence {
            Presence::Optional => {
                self.line("    #[serde(default, skip_serializing_if = \"Option::is_none\")]");
                if has_integer(&member.of) {
                    self.support.whole = true;
                    self.line("    #[serde(deserialize_with = \"whole::some\")]");
                } else {
                    self.support.some = true;
                    self.line("    #[serde(deserialize_with = \"some\")]");
                }
                self.line(&format!("    pub {raw}{field}: Option<{kind}>,"));
            }
            Presence::Required => {
                if has_integer(&member.of) {
                    self.read_whole(&member.of);
                } else if self.may_be_null(&member.of) {
                    // Serde would take an absent member for `null`.
                    self.support.present = true;
                    self.line("    #[serde(deserialize_with = \"present\")]");
                }
                self.line(&format!("    pub {raw}{field}: {kind},"));
            }
        }
    }

    fn may_be_null(&self, of: &Type) -> bool {
        if let Type::Named(id) = of {
            let form = self.model.get(*id).map(|definition| &definition.form);
            return matches!(form, Some(Form::Alias(Type::Nullable(_))));
        }
        matches!(of, Type::Nullable(_))
    }
}
