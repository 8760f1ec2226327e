//! Whether a value can be of two types at once.

use super::build::Slot;
use super::{Form, Integer, Object, Presence, Rest, Type};

/// How deep types are compared, and how many at each level; beyond, they may overlap.
const DEPTH_LIMIT: usize = 8;
const LEAF_LIMIT: usize = 64;

/// A type without alternatives.
#[derive(Clone, Copy)]
enum Leaf<'s> {
    Plain(&'s Type),
    Formed(&'s Form),
}

/// Claims that some value may be of both types; false is certain.
pub(super) fn may_overlap(slots: &[Slot], left: &Type, right: &Type) -> bool {
    compare(slots, left, right, DEPTH_LIMIT)
}

fn compare(slots: &[Slot], left: &Type, right: &Type, depth: usize) -> bool {
    if depth == 0 {
        return true;
    }
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    if !leaves(slots, left, &mut lefts, depth) || !leaves(slots, right, &mut rights, depth) {
        return true;
    }
    lefts.iter().any(|left| rights.iter().any(|right| overlap(slots, *left, *right, depth)))
}

/// Collects the alternatives of a type; false if there are too many.
fn leaves<'s>(slots: &'s [Slot], of: &'s Type, found: &mut Vec<Leaf<'s>>, depth: usize) -> bool {
    if depth == 0 || found.len() >= LEAF_LIMIT {
        return false;
    }
    match of {
        Type::Nullable(inner) => {
            found.push(Leaf::Plain(&Type::Null));
            leaves(slots, inner, found, depth - 1)
        }
        Type::Named(id) => match slots.get(id.0).and_then(|slot| slot.form.as_ref()) {
            Some(Form::Alias(inner)) => leaves(slots, inner, found, depth - 1),
            Some(Form::Union(union)) => {
                union.variants.iter().all(|variant| leaves(slots, &variant.of, found, depth - 1))
            }
            Some(form) => {
                found.push(Leaf::Formed(form));
                true
            }
            None => false,
        },
        Type::Any
        | Type::Null
        | Type::Boolean
        | Type::Integer
        | Type::Number
        | Type::Text
        | Type::List(_)
        | Type::Map(_) => {
            found.push(Leaf::Plain(of));
            true
        }
    }
}

fn overlap(slots: &[Slot], left: Leaf<'_>, right: Leaf<'_>, depth: usize) -> bool {
    let is_same_kind = kind(left) == kind(right);
    match (left, right) {
        (Leaf::Plain(Type::Any), _) | (_, Leaf::Plain(Type::Any)) => true,
        _ if !is_same_kind => false,
        (Leaf::Formed(Form::Words(left)), Leaf::Formed(Form::Words(right))) => {
            left.iter().any(|word| right.contains(word))
        }
        (Leaf::Formed(Form::Flag(left)), Leaf::Formed(Form::Flag(right))) => left == right,
        (Leaf::Formed(Form::Integer(left)), Leaf::Formed(Form::Integer(right))) => {
            integers_meet(left, right)
        }
        (Leaf::Formed(Form::Object(left)), Leaf::Formed(Form::Object(right))) => {
            objects_meet(slots, left, right, depth)
        }
        _ => true,
    }
}

/// Returns the JSON kind; integers count as numbers.
fn kind(leaf: Leaf<'_>) -> u8 {
    match leaf {
        Leaf::Plain(Type::Null) => 0,
        Leaf::Plain(Type::Boolean) | Leaf::Formed(Form::Flag(_)) => 1,
        Leaf::Plain(Type::Integer | Type::Number)
        | Leaf::Formed(Form::Integer(_) | Form::Number(_)) => 2,
        Leaf::Plain(Type::Text) | Leaf::Formed(Form::Text(_) | Form::Words(_)) => 3,
        Leaf::Plain(Type::List(_)) | Leaf::Formed(Form::List(_) | Form::Tuple(_)) => 4,
        Leaf::Plain(Type::Map(_)) | Leaf::Formed(Form::Object(_)) => 5,
        Leaf::Plain(Type::Any | Type::Nullable(_) | Type::Named(_))
        | Leaf::Formed(Form::Alias(_) | Form::Union(_)) => 6,
    }
}

fn integers_meet(left: &Integer, right: &Integer) -> bool {
    let least = |it: &Integer| it.allowed.iter().min().copied().or(it.min).unwrap_or(i64::MIN);
    let most = |it: &Integer| it.allowed.iter().max().copied().or(it.max).unwrap_or(i64::MAX);
    if !left.allowed.is_empty() && !right.allowed.is_empty() {
        return left.allowed.iter().any(|it| right.allowed.contains(it));
    }
    least(left) <= most(right) && least(right) <= most(left)
}

/// Claims that no member tells the two apart.
fn objects_meet(slots: &[Slot], left: &Object, right: &Object, depth: usize) -> bool {
    !tells_apart(slots, left, right, depth) && !tells_apart(slots, right, left, depth)
}

/// Claims that what `left` requires cannot stand in `right`.
fn tells_apart(slots: &[Slot], left: &Object, right: &Object, depth: usize) -> bool {
    let required = left.members.iter().filter(|member| member.presence == Presence::Required);
    required.into_iter().any(|member| {
        let other = right.members.iter().find(|other| other.key == member.key);
        match (other, &right.rest) {
            (Some(other), _) => !compare(slots, &member.of, &other.of, depth - 1),
            (None, Rest::Closed) => true,
            (None, Rest::Typed(of)) => !compare(slots, &member.of, of, depth - 1),
            (None, Rest::Open) => false,
        }
    })
}
