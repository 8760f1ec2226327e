//! Evaluation of rules: what they read of `self` is converted once, and every step is paid for.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
    Type,
};
use cel::common::value::{CowVal, StaticVal, Val};
use cel::{Context, ExecutionError, FunctionContext, Value};

use super::Rule;
use super::expression::{Expression, METER, RANGE, Reads, STANDARD};
use crate::json::probe::Probe;
use crate::json::{Kind, Node, Number};

/// How many bytes of text cost as much as one node.
const BYTES_PER_UNIT: usize = 32;

/// Integers below this are the same in a float.
const FLOAT_INTEGERS: f64 = 9_007_199_254_740_992.0;

type Function = Box<
    dyn for<'c, 'v> Fn(&mut FunctionContext<'c, 'v>) -> Result<CowVal<'c, 'v>, ExecutionError>
        + Send
        + Sync,
>;

/// Returns what to say of each rule that does not hold for `instance`.
pub(super) fn broken(rules: &[Rule], reads: &Reads, instance: &Probe<'_>) -> Vec<String> {
    let (value, budget) = open(reads, instance);
    let mut messages = Vec::new();
    if let Some(value) = value {
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        context.add_variable_as_val("self", value);
        let is_metered = install(&mut context, &budget);
        for rule in rules {
            let outcome =
                if is_metered { run(&rule.expression, &context, &budget) } else { Err(TOO_MUCH) };
            match outcome {
                Ok(true) => {}
                Ok(false) => messages.push(rule.message.clone()),
                Err(reason) => {
                    if [TOO_MUCH, INEXACT].contains(&reason) {
                        instance.meter().doubt();
                    }
                    messages.push(unevaluated(rule, reason));
                }
            }
        }
    } else {
        instance.meter().doubt();
        messages.extend(rules.iter().map(|rule| unevaluated(rule, TOO_MUCH)));
    }
    let spent = budget.share - budget.left.load(Ordering::Relaxed);
    instance.meter().settle(instance.meter().left().saturating_sub(spent));
    messages
}

/// Says why; of the value nothing is repeated, so the sentence is its own masked form.
fn unevaluated(rule: &Rule, reason: &str) -> String {
    format!("rule `{}` cannot be evaluated: {reason}", rule.expression.source())
}

/// The rules of one place may spend one in this many units that are left, so that enough remains
/// to say that they spent too much.
const SHARE: u64 = 4;

const TOO_MUCH: &str = "it takes too much work";

const INEXACT: &str = "a number has more digits than can be evaluated exactly";

pub(super) const NO_BOOLEAN: &str = "it is neither true nor false";

/// How much work an expression without variables may take; such a rule is refused anyway, and
/// this only decides with which words.
const CONSTANT_WORK: u64 = 10_000;

/// Evaluates an expression that does not look at the value, or says why that fails.
pub(super) fn constant(expression: &Expression) -> Result<bool, &'static str> {
    let budget = Arc::new(Budget::of(CONSTANT_WORK));
    let mut context = Context::with_env(Arc::clone(&STANDARD));
    if install(&mut context, &budget) { run(expression, &context, &budget) } else { Err(TOO_MUCH) }
}

fn run(
    expression: &Expression,
    context: &Context<'_, '_>,
    budget: &Budget,
) -> Result<bool, &'static str> {
    budget.inexact.store(false, Ordering::Relaxed);
    let result = Value::resolve_val(expression.root(), context);
    // CEL lets `true || error` be true; running out or rounding must not hide behind that.
    if budget.is_spent() {
        return Err(TOO_MUCH);
    }
    if budget.inexact.load(Ordering::Relaxed) {
        return Err(INEXACT);
    }
    let value = result.map_err(|error| reason(&error))?;
    value.downcast_ref::<CelBool>().map(|held| *held.inner()).ok_or(NO_BOOLEAN)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is foreign and non-exhaustive")]
fn reason(error: &ExecutionError) -> &'static str {
    match error {
        ExecutionError::NoSuchKey(_) => "a member that it reads is missing (test it with `has`)",
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero"
        }
        ExecutionError::Overflow(..) => "a number overflows",
        ExecutionError::IndexOutOfBounds(_) => "an index is out of bounds",
        ExecutionError::NoSuchOverload(_)
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::ValuesNotComparable(..) => "an operator does not fit its operands",
        _ => "a function does not fit its arguments",
    }
}

/// What rules may still spend, shared with the metering functions.
#[derive(Debug)]
struct Budget {
    share: u64,
    left: AtomicU64,
    /// Whether a number was operated on that CEL cannot hold.
    inexact: AtomicBool,
}

impl Budget {
    fn of(share: u64) -> Self {
        Self { share, left: AtomicU64::new(share), inexact: AtomicBool::new(false) }
    }

    /// Takes `units`; claims that something is left.
    fn spend(&self, units: usize) -> bool {
        let units = u64::try_from(units).unwrap_or(u64::MAX);
        let left = self.left.load(Ordering::Relaxed).saturating_sub(units);
        self.left.store(left, Ordering::Relaxed);
        left > 0
    }

    fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

/// Converts what is read of `instance`; nothing if even that costs too much.
fn open<'d>(reads: &Reads, instance: &Probe<'d>) -> (Option<Box<dyn Val + 'd>>, Arc<Budget>) {
    let budget = Arc::new(Budget::of(instance.meter().left() / SHARE));
    let value = match (instance, reads) {
        (Probe::Name(name, _), _) => Some(Box::new(CelString::from(*name)) as Box<dyn Val + 'd>),
        (Probe::Node(node, _), Reads::Members(names)) if node.kind() == Kind::Object => {
            let members = names
                .iter()
                .filter_map(|name| node.member(name).map(|value| (name.clone().into(), value)));
            object(members, &budget)
        }
        (Probe::Node(node, _), Reads::Members(_)) if node.kind() == Kind::Array => {
            Some(Box::new(CelList::from(Vec::new())) as Box<dyn Val + 'd>)
        }
        (Probe::Node(node, _), _) => convert(*node, &budget),
    };
    (value, budget)
}

fn convert<'d>(node: Node<'d>, budget: &Budget) -> Option<Box<dyn Val + 'd>> {
    if !budget.spend(1) {
        return None;
    }
    Some(match node.kind() {
        Kind::Null => Box::new(CelNull),
        Kind::Boolean => Box::new(CelBool::from(node.as_boolean().unwrap_or_default())),
        Kind::Number => number(node.as_number()?),
        Kind::String => Box::new(CelString::from(node.as_str().unwrap_or_default())),
        Kind::Array => {
            let items: Option<Vec<_>> = node.items().map(|item| convert(item, budget)).collect();
            Box::new(CelList::from(items?))
        }
        Kind::Object => object(node.members().map(|(key, value)| (key.into(), value)), budget)?,
    })
}

fn object<'d>(
    members: impl Iterator<Item = (CelMapKey<'d>, Node<'d>)>,
    budget: &Budget,
) -> Option<Box<dyn Val + 'd>> {
    let mut map = HashMap::new();
    for (key, value) in members {
        let value = convert(value, budget)?;
        // Of members with one name the first counts, as everywhere.
        map.entry(key).or_insert(value);
    }
    Some(Box::new(CelMap::from(map)))
}

fn number<'v>(number: Number<'_>) -> Box<dyn Val + 'v> {
    let literal = number.as_str();
    if let Ok(integer) = literal.parse::<i64>() {
        return Box::new(CelInt::from(integer));
    }
    if let Ok(integer) = literal.parse::<u64>() {
        return Box::new(CelUInt::from(integer));
    }
    if !literal.contains(['.', 'e', 'E']) {
        return Box::new(Unreadable);
    }
    let float = number.to_f64();
    if number.is_integer()
        && float.abs() < FLOAT_INTEGERS
        && let Ok(integer) = format!("{float:.0}").parse::<i64>()
    {
        return Box::new(CelInt::from(integer));
    }
    // The shortest decimal that reads as this float is what CEL would compute with.
    if Number::new(&format!("{float:e}")).compare(&number).is_ne() {
        return Box::new(Unreadable);
    }
    Box::new(CelDouble::from(float))
}

/// A number that CEL has no type for.
#[derive(Debug, Clone)]
struct Unreadable;

static UNREADABLE: Type = Type::new_unspecified_type("number beyond 64 bits");

impl Val for Unreadable {
    fn get_type(&self) -> &Type {
        &UNREADABLE
    }

    fn cel_type() -> &'static Type {
        &UNREADABLE
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(Self)
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}

impl StaticVal for Unreadable {}

/// Adds the metering functions; claims that they could be added.
fn install(context: &mut Context<'_, '_>, budget: &Arc<Budget>) -> bool {
    let meter = Arc::clone(budget);
    let meter: Function = Box::new(move |call| {
        let surcharge = second(call);
        let value = call.args.pop().ok_or(ExecutionError::MissingArgumentOrTarget)?;
        let mut exact = true;
        let size = measure(value.as_ref(), &mut exact);
        if !exact {
            meter.inexact.store(true, Ordering::Relaxed);
        }
        pay(&meter, size.saturating_add(surcharge), value)
    });
    let range = Arc::clone(budget);
    let range: Function = Box::new(move |call| {
        let per_item = second(call);
        let value = call.args.pop().ok_or(ExecutionError::MissingArgumentOrTarget)?;
        let size = measure(value.as_ref(), &mut true);
        let count = value.as_sizer().map_or(0, |sizer| *sizer.size().inner());
        let steps = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(per_item);
        pay(&range, size.saturating_add(steps), value)
    });
    context.add_function(METER, meter).is_ok() && context.add_function(RANGE, range).is_ok()
}

/// Takes the second argument, a number that the compiler put there.
fn second(call: &mut FunctionContext<'_, '_>) -> usize {
    if call.args.len() < 2 {
        return 0;
    }
    let number = call.args.pop();
    let number = number.as_ref().and_then(|value| value.downcast_ref::<CelInt>());
    number.and_then(|number| usize::try_from(*number.inner()).ok()).unwrap_or_default()
}

fn pay<'c, 'v>(
    budget: &Budget,
    units: usize,
    value: CowVal<'c, 'v>,
) -> Result<CowVal<'c, 'v>, ExecutionError> {
    if budget.spend(units) {
        return Ok(value);
    }
    Err(ExecutionError::function_error("rule", TOO_MUCH))
}

/// Returns how much work it is to read or copy all of `value`.
fn measure(value: &dyn Val, exact: &mut bool) -> usize {
    let inside = if let Some(string) = value.downcast_ref::<CelString>() {
        string.inner().len() / BYTES_PER_UNIT
    } else if let Some(bytes) = value.downcast_ref::<CelBytes>() {
        bytes.inner().len() / BYTES_PER_UNIT
    } else if let Some(list) = value.downcast_ref::<CelList>() {
        list.inner().iter().map(|item| measure(item.as_ref(), exact)).sum()
    } else if let Some(map) = value.downcast_ref::<CelMap>() {
        map.inner().values().map(|item| measure(item.as_ref(), exact)).sum()
    } else {
        *exact &= value.downcast_ref::<Unreadable>().is_none();
        0
    };
    inside + 1
}
