//! Enums whose variants one member tells apart.

use std::collections::{HashMap, HashSet};

use crate::generate::model::{Form, Id, Model, Type, Union};

/// Returns the objects whose tag an enum writes in their place, with that tag, and the choices that are
/// nothing else but such tags.
pub(super) fn tagged(model: &Model) -> (HashMap<Id, String>, HashSet<Id>) {
    let mut tags = HashMap::new();
    let mut marks = HashSet::new();
    for (_, definition) in model.definitions() {
        let Form::Union(union) = &definition.form else { continue };
        let Some(tag) = tag(model, union) else { continue };
        for variant in &union.variants {
            tags.extend(variant.of.named().map(|id| (id, tag.to_owned())));
            let mark = mark(model, &variant.of, tag).map(|(id, _)| id);
            marks.extend(mark.filter(|id| model.get(*id).is_some_and(|it| it.uses == 1)));
        }
    }
    (tags, marks)
}

/// Returns the member that tells the variants of an enum apart, if no other type needs it in them.
pub(super) fn tag<'m>(model: &Model, union: &'m Union) -> Option<&'m str> {
    let is_only_here = union.variants.iter().all(|variant| {
        let Type::Named(id) = variant.of else { return false };
        id != Id::ROOT && model.get(id).is_some_and(|it| it.uses == 1)
    });
    union.tag.as_deref().filter(|_| is_only_here)
}

/// Returns the choice that the tag of a variant is, and its word.
pub(super) fn mark<'m>(model: &'m Model, of: &Type, tag: &str) -> Option<(Id, &'m str)> {
    let definition = |of: &Type| Some((of.named()?, model.get(of.named()?)?));
    let object = definition(of)?.1.form.as_object()?;
    let member = object.members.iter().find(|member| member.key == tag)?;
    let (id, choice) = definition(&member.of)?;
    Some((id, choice.form.as_words()?.first()?))
}
