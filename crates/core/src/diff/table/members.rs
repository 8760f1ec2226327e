//! Members: declared, required, other ones.

use super::*;

pub(super) fn members() -> Vec<Row> {
    let none = || json!([]);
    vec![
        (
            "closed: an optional property more",
            closed(json!({"a": text()}), none()),
            closed(json!({"a": text(), "b": text()}), none()),
            Yes,
            No,
        ),
        (
            "open: an optional property more",
            open(json!({"a": text()}), none()),
            open(json!({"a": text(), "b": text()}), none()),
            No,
            Yes,
        ),
        (
            "closed: a required property more",
            closed(json!({"a": text()}), none()),
            closed(json!({"a": text(), "b": text()}), json!(["b"])),
            No,
            No,
        ),
        (
            "open: a required property more",
            open(json!({"a": text()}), none()),
            open(json!({"a": text(), "b": text()}), json!(["b"])),
            No,
            Yes,
        ),
        (
            "closed: an optional property less",
            closed(json!({"a": text(), "b": text()}), none()),
            closed(json!({"a": text()}), none()),
            No,
            Yes,
        ),
        (
            "open: an optional property less",
            open(json!({"a": text(), "b": text()}), none()),
            open(json!({"a": text()}), none()),
            Yes,
            No,
        ),
        (
            "a property is renamed",
            member(text()),
            closed(json!({"b": text()}), json!(["b"])),
            No,
            No,
        ),
        (
            "optional becomes required",
            closed(json!({"a": text()}), none()),
            member(text()),
            No,
            Yes,
        ),
        (
            "required becomes optional",
            member(text()),
            closed(json!({"a": text()}), none()),
            Yes,
            No,
        ),
        (
            "closed",
            open(json!({"a": text()}), none()),
            closed(json!({"a": text()}), none()),
            No,
            Yes,
        ),
        (
            "opened",
            closed(json!({"a": text()}), none()),
            open(json!({"a": text()}), none()),
            Yes,
            No,
        ),
        (
            "others are held to a schema",
            open(json!({"a": text()}), none()),
            json!({"type": "object", "properties": {"a": text()}, "additionalProperties": {"type": "integer"}}),
            No,
            Yes,
        ),
        (
            "a pattern of names more",
            json!({"type": "object"}),
            json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}}),
            No,
            Yes,
        ),
        (
            "names are limited",
            json!({"type": "object"}),
            json!({"type": "object", "propertyNames": {"maxLength": 3}}),
            No,
            Yes,
        ),
        (
            "more members are demanded",
            json!({"type": "object"}),
            json!({"type": "object", "minProperties": 2}),
            No,
            Yes,
        ),
        (
            "one member asks for another",
            json!({"type": "object"}),
            json!({"type": "object", "dependentRequired": {"a": ["b"]}}),
            No,
            Yes,
        ),
        (
            "a property deep inside",
            member(open(json!({"b": open(json!({"c": text()}), none())}), none())),
            member(open(json!({"b": open(json!({"c": text()}), json!(["c"]))}), none())),
            No,
            Yes,
        ),
    ]
}
