//! CEL expressions, checked and made to meter themselves.
//!
//! The `cel` interpreter has no step limit. So every place where work grows with the value (the
//! operands of operators and functions, the elements of literals, the ranges of macros) is wrapped
//! in a call of a function that pays for it first; the names of these functions cannot be written
//! in CEL, and the shapes that the interpreter recognises to append in place are kept.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use cel::{Context, Env};

/// How long a rule may be. Long enough for any rule that a person can read; short enough that
/// parsing, which recurses, stays far from the end of a thread's stack.
const LENGTH_LIMIT: usize = 1024;

/// How deep an expression may nest, and so how deep its evaluation recurses.
const DEPTH_LIMIT: usize = 48;

/// What `matches` costs beyond its text: the interpreter compiles the pattern every time.
const PATTERN_UNITS: i64 = 300;

/// Pays for a value that is operated on.
pub(super) const METER: &str = "@meter";

/// Pays for a value that is iterated over.
pub(super) const RANGE: &str = "@range";

const FUNCTIONS: [&str; 13] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "bytes",
    "type",
    "dyn",
];

/// The operators and functions that never make a boolean.
const NOT_BOOLEAN: [&str; 13] = {
    use cel::common::ast::operators as op;
    [
        op::ADD,
        op::SUBSTRACT,
        op::MULTIPLY,
        op::DIVIDE,
        op::MODULO,
        op::NEGATE,
        "size",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "type",
    ]
};

const TYPES: [&str; 10] =
    ["int", "uint", "double", "string", "bool", "bytes", "list", "map", "null_type", "type"];

/// The functions and types that rules may use.
pub(super) static STANDARD: LazyLock<Arc<Env>> =
    LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// Why a text is not a rule.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flaw {
    #[error("rule is {length} bytes, over the {LENGTH_LIMIT}-byte limit")]
    TooLong { length: usize },
    #[error("rule nests deeper than {DEPTH_LIMIT} levels")]
    TooDeep,
    #[error("rule is no CEL expression, line {line}, column {column}: {message}")]
    Syntax { line: isize, column: isize, message: String },
    #[error("unknown variable; only `self` and the variables of macros exist: `{0}`")]
    UnknownVariable(String),
    #[error("`self` cannot be a macro's variable")]
    Rebound,
    #[error("unknown function: `{0}`")]
    UnknownFunction(String),
    #[error("`matches` needs a literal pattern of the linear-time engine")]
    BadPattern,
    #[error("rules cannot make messages or use optional syntax")]
    Unsupported,
}

/// What of `self` an expression looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reads {
    /// These members and nothing else.
    Members(BTreeSet<String>),
    /// Everything.
    Whole,
}

impl Default for Reads {
    fn default() -> Self {
        Self::Members(BTreeSet::new())
    }
}

impl Reads {
    pub(super) fn extend(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Members(ours), Self::Members(theirs)) => ours.extend(theirs.iter().cloned()),
            (Self::Whole, _) => {}
            (Self::Members(_), Self::Whole) => *self = Self::Whole,
        }
    }

    fn member(&mut self, name: &str) {
        if let Self::Members(names) = self {
            names.insert(name.to_owned());
        }
    }
}

/// A CEL expression that pays for its work.
#[derive(Debug)]
pub(super) struct Expression {
    source: String,
    root: IdedExpr,
    reads: Reads,
}

impl Expression {
    pub(super) fn compile(source: &str) -> Result<Self, Flaw> {
        if source.len() > LENGTH_LIMIT {
            return Err(Flaw::TooLong { length: source.len() });
        }
        let mut root = STANDARD.parser().parse(source).map_err(|errors| {
            let first = errors.errors.into_iter().next();
            let (line, column) = first.as_ref().map(|error| error.pos).unwrap_or_default();
            let message = first.map(|error| error.msg).unwrap_or_default();
            Flaw::Syntax { line, column, message }
        })?;
        let mut check = Check::default();
        check.visit(&mut root)?;
        Ok(Self { source: source.to_owned(), root, reads: check.reads })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn root(&self) -> &IdedExpr {
        &self.root
    }

    pub(super) fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Claims that nothing of the value is looked at.
    pub(super) fn is_constant(&self) -> bool {
        self.reads == Reads::default()
    }

    /// Claims that the outermost operation makes a number, text, list or map of whatever it gets.
    pub(super) fn makes_no_boolean(&self) -> bool {
        match &self.root.expr {
            Expr::Call(call) => NOT_BOOLEAN.contains(&call.func_name.as_str()),
            Expr::Comprehension(inner) => is_container(&inner.accu_init),
            Expr::List(_) | Expr::Map(_) => true,
            Expr::Literal(_) | Expr::Ident(_) | Expr::Select(_) => false,
            Expr::Struct(_) | Expr::Unspecified => false,
        }
    }
}

/// The walk that checks names and adds the metering.
#[derive(Default)]
struct Check {
    depth: usize,
    variables: Vec<String>,
    reads: Reads,
}

impl Check {
    fn visit(&mut self, node: &mut IdedExpr) -> Result<(), Flaw> {
        if self.depth == DEPTH_LIMIT {
            return Err(Flaw::TooDeep);
        }
        self.depth += 1;
        match &mut node.expr {
            Expr::Literal(_) => {}
            Expr::Ident(name) => self.identifier(name)?,
            Expr::Select(select) if is_self(&select.operand) => self.reads.member(&select.field),
            Expr::Select(select) => self.visit(&mut select.operand)?,
            Expr::Call(call) => self.call(call)?,
            Expr::List(list) => list.elements.iter_mut().try_for_each(|e| self.operand(e))?,
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    let EntryExpr::MapEntry(entry) = &mut entry.expr else {
                        return Err(Flaw::Unsupported);
                    };
                    self.operand(&mut entry.key)?;
                    self.operand(&mut entry.value)?;
                }
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Struct(_) | Expr::Unspecified => return Err(Flaw::Unsupported),
        }
        self.depth -= 1;
        Ok(())
    }

    fn identifier(&mut self, name: &str) -> Result<(), Flaw> {
        if name == "self" {
            self.reads = Reads::Whole;
            return Ok(());
        }
        let known = name.starts_with('@')
            || TYPES.contains(&name)
            || self.variables.iter().any(|variable| variable == name);
        if known { Ok(()) } else { Err(Flaw::UnknownVariable(name.to_owned())) }
    }

    fn call(&mut self, call: &mut CallExpr) -> Result<(), Flaw> {
        use cel::common::ast::operators as op;
        let name = call.func_name.as_str();
        match name {
            op::CONDITIONAL
            | op::LOGICAL_AND
            | op::LOGICAL_OR
            | op::LOGICAL_NOT
            | op::INDEX
            | op::NOT_STRICTLY_FALSE => {
                return call.args.iter_mut().try_for_each(|argument| self.visit(argument));
            }
            op::OPT_INDEX | op::OPT_SELECT => return Err(Flaw::Unsupported),
            _ => {}
        }
        let is_operator = name.starts_with(['_', '-', '@']);
        if !is_operator && !FUNCTIONS.contains(&name) {
            return Err(Flaw::UnknownFunction(name.to_owned()));
        }
        let mut surcharge = 0;
        if name == "matches" {
            check_pattern(call)?;
            surcharge = PATTERN_UNITS;
        }
        for operand in call.target.as_deref_mut().into_iter().chain(&mut call.args) {
            self.operand(operand)?;
            if surcharge > 0 {
                let units = integer(operand.id, surcharge);
                wrap(operand, METER, vec![units]);
                surcharge = 0;
            }
        }
        Ok(())
    }

    /// Visits a value that something is done with, and meters it.
    fn operand(&mut self, node: &mut IdedExpr) -> Result<(), Flaw> {
        self.visit(node)?;
        // Literals cost what their own elements do; accumulators must keep their shape.
        let is_literal = matches!(node.expr, Expr::Literal(_) | Expr::List(_) | Expr::Map(_));
        let is_accumulator = matches!(&node.expr, Expr::Ident(name) if name.starts_with('@'));
        if !is_literal && !is_accumulator {
            wrap(node, METER, Vec::new());
        }
        Ok(())
    }

    fn comprehension(&mut self, inner: &mut ComprehensionExpr) -> Result<(), Flaw> {
        if inner.iter_var == "self" {
            return Err(Flaw::Rebound);
        }
        self.visit(&mut inner.iter_range)?;
        self.visit(&mut inner.accu_init)?;
        self.variables.push(inner.iter_var.clone());
        self.visit(&mut inner.loop_cond)?;
        self.visit(&mut inner.loop_step)?;
        self.visit(&mut inner.result)?;
        self.variables.pop();
        let per_item = i64::try_from(count(&inner.loop_step)).unwrap_or(i64::MAX);
        let per_item = integer(inner.iter_range.id, per_item);
        wrap(&mut inner.iter_range, RANGE, vec![per_item]);
        Ok(())
    }
}

fn is_self(node: &IdedExpr) -> bool {
    matches!(&node.expr, Expr::Ident(name) if name == "self")
}

fn is_container(node: &IdedExpr) -> bool {
    matches!(node.expr, Expr::List(_) | Expr::Map(_))
}

fn integer(id: u64, value: i64) -> IdedExpr {
    IdedExpr { id, expr: Expr::Literal(LiteralValue::Int(value.into())) }
}

fn wrap(node: &mut IdedExpr, function: &str, more: Vec<IdedExpr>) {
    let id = node.id;
    let mut args = vec![std::mem::take(node)];
    args.extend(more);
    let call = CallExpr { func_name: function.to_owned(), target: None, args };
    *node = IdedExpr { id, expr: Expr::Call(call) };
}

/// A pattern from the value could be costly to compile, and a wrong one must be found now.
fn check_pattern(call: &CallExpr) -> Result<(), Flaw> {
    let pattern = call.args.last().ok_or(Flaw::BadPattern)?;
    if !matches!(pattern.expr, Expr::Literal(LiteralValue::String(_))) {
        return Err(Flaw::BadPattern);
    }
    let empty = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::String(String::new().into())) };
    let args = vec![pattern.clone()];
    let probe = CallExpr { func_name: call.func_name.clone(), target: Some(Box::new(empty)), args };
    let probe = IdedExpr { id: 0, expr: Expr::Call(probe) };
    let context = Context::with_env(Arc::clone(&STANDARD));
    cel::Value::resolve(&probe, &context).map(drop).map_err(|_| Flaw::BadPattern)
}

/// Returns how many nodes an expression has, a measure of one evaluation of it.
fn count(node: &IdedExpr) -> usize {
    let inside = match &node.expr {
        Expr::Call(call) => {
            call.args.iter().map(count).sum::<usize>() + call.target.as_deref().map_or(0, count)
        }
        Expr::Select(select) => count(&select.operand),
        Expr::List(list) => list.elements.iter().map(count).sum(),
        Expr::Map(map) => map
            .entries
            .iter()
            .map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => count(&entry.key) + count(&entry.value),
                EntryExpr::StructField(field) => count(&field.value),
            })
            .sum(),
        // What is inside pays for itself.
        Expr::Comprehension(inner) => count(&inner.iter_range),
        Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) | Expr::Unspecified => 0,
    };
    inside + 1
}
