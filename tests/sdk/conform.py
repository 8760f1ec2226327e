"""Holds what a vendor's client received to the vendor's own types."""

import pydantic


def conform(model, extras=()):
    """Fails if `model` lacks a field that its type demands, or has one that its type does not know.

    The clients themselves are lenient: they build types without looking. `extras` names fields that
    only compatible servers have.
    """
    # References between the SDK's types are resolved on first use.
    type(model).model_rebuild()
    type(model).model_validate(model.to_dict(mode="json", use_api_names=True), strict=False)
    known(model, extras, type(model).__name__)
    return model


def known(value, extras, place):
    if isinstance(value, pydantic.BaseModel):
        stray = set(value.model_extra or {}) - set(extras)
        assert not stray, f"{place}: the vendor's type has no {sorted(stray)}"
        for name in type(value).model_fields:
            known(getattr(value, name, None), extras, f"{place}.{name}")
    elif isinstance(value, list):
        for at, entry in enumerate(value):
            known(entry, extras, f"{place}[{at}]")


def equal(seen, expected):
    assert seen == expected, f"\n  seen     {seen!r}\n  expected {expected!r}"


def fails(kind, act):
    """Returns the error of type `kind` that `act` must raise."""
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def breaks(act):
    """Demands that `act` sees the connection break; clients wrap that in errors of their own."""
    error = fails(Exception, act)
    while "incomplete chunked read" not in str(error):
        assert error.__cause__, repr(error)
        error = error.__cause__


def grow(partials, whole):
    """Demands that each partial value is a beginning of the next, and the last one of `whole`."""
    for before, after in zip(partials, [*partials[1:], whole], strict=True):
        assert begins(before, after), f"\n  before {before!r}\n  after  {after!r}"


def begins(before, after):
    """Claims that `before` may grow into `after`; what is absent may become anything."""
    if before is None:
        return True
    if isinstance(before, dict) and isinstance(after, dict):
        return all(begins(value, after.get(name)) for name, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) <= len(after) and all(map(begins, before, after))
    # The digits of a number arrive one by one, too.
    return type(before) is type(after) and str(after).startswith(str(before))


def run(cases):
    """Runs every case and says which passed; the first that fails ends the program."""
    for case in cases:
        case()
        print(f"  ok  {case.__name__}")
