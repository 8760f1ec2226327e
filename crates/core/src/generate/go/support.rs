//! What generated Go imports and brings along: only what is used.

use std::collections::BTreeSet;

/// What is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Anything,
    CheckList,
    CheckMap,
    CheckPointer,
    Count,
    Errors,
    Flag,
    Format,
    Items,
    List,
    Map,
    Members,
    Named,
    Nothing,
    Null,
    Nullable,
    Number,
    Optional,
    Pattern,
    Pointer,
    Required,
    Rest,
    Text,
    Whole,
}

impl Need {
    /// Returns the helper, with the packages that it uses.
    fn helper(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Anything => (ANYTHING, &["encoding/json"]),
            Self::CheckList => (CHECK_LIST, &["fmt"]),
            Self::CheckMap => (CHECK_MAP, &["fmt"]),
            Self::CheckPointer => (CHECK_POINTER, &[]),
            Self::Count => ("", &["unicode/utf8"]),
            Self::Errors => ("", &["errors"]),
            Self::Flag => (FLAG, &["encoding/json", "errors"]),
            Self::Format => ("", &["fmt"]),
            Self::Items => (ITEMS, &["encoding/json", "errors", "fmt"]),
            Self::List => (LIST, &["encoding/json", "errors", "fmt"]),
            Self::Map => (MAP, &["encoding/json", "fmt"]),
            Self::Members => (MEMBERS, &["encoding/json", "errors"]),
            Self::Named => (NAMED, &["encoding/json"]),
            Self::Nothing => (NOTHING, &["encoding/json", "fmt"]),
            Self::Null => (NULL, &["encoding/json", "errors"]),
            Self::Nullable => (NULLABLE, &["encoding/json"]),
            Self::Number => (NUMBER, &["encoding/json", "errors", "strconv"]),
            Self::Optional => (OPTIONAL, &["encoding/json", "fmt"]),
            Self::Pattern => ("", &["regexp"]),
            Self::Pointer => (POINTER, &["encoding/json"]),
            Self::Required => (REQUIRED, &["encoding/json", "fmt"]),
            Self::Rest => (REST, &["encoding/json", "fmt"]),
            Self::Text => (TEXT, &["encoding/json", "errors"]),
            Self::Whole => (WHOLE, &["encoding/json", "errors", "math", "strconv"]),
        }
    }

    /// Returns what the helper itself needs.
    fn needs(self) -> &'static [Self] {
        if self == Self::Map { &[Self::Members] } else { &[] }
    }
}

/// Returns what is used, with what that needs.
fn complete(needs: &BTreeSet<Need>) -> BTreeSet<Need> {
    needs.iter().flat_map(|need| need.needs().iter().chain([need])).copied().collect()
}

/// Writes the imports; a package that only marshals needs `encoding/json` too.
pub(super) fn imports(needs: &BTreeSet<Need>) -> String {
    let packages: BTreeSet<&str> =
        complete(needs).iter().flat_map(|need| need.helper().1).copied().collect();
    let lines: String = packages.iter().map(|package| format!("\t\"{package}\"\n")).collect();
    format!("import (\n{lines})\n")
}

pub(super) fn helpers(needs: &BTreeSet<Need>) -> String {
    complete(needs).iter().map(|need| need.helper().0).collect()
}

const ANYTHING: &str = r#"
func readAnything(data json.RawMessage) (any, error) {
	var value any
	err := json.Unmarshal(data, &value)
	return value, err
}
"#;

const CHECK_LIST: &str = r#"
func checkList[T any](check func(T) error) func([]T) error {
	return func(items []T) error {
		for position, item := range items {
			if err := check(item); err != nil {
				return fmt.Errorf("%d: %w", position, err)
			}
		}
		return nil
	}
}
"#;

const CHECK_MAP: &str = r#"
func checkMap[T any](check func(T) error) func(map[string]T) error {
	return func(members map[string]T) error {
		for key, member := range members {
			if err := check(member); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		return nil
	}
}
"#;

const CHECK_POINTER: &str = r#"
func checkPointer[T any](check func(T) error) func(*T) error {
	return func(value *T) error {
		if value == nil {
			return nil
		}
		return check(*value)
	}
}
"#;

const FLAG: &str = r#"
func readFlag(data json.RawMessage) (bool, error) {
	switch string(data) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("must be true or false")
}
"#;

const ITEMS: &str = r#"
func readItems(data json.RawMessage, count int) ([]json.RawMessage, error) {
	if len(data) == 0 || data[0] != '[' {
		return nil, errors.New("must be an array")
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, err
	}
	if len(items) != count {
		return nil, fmt.Errorf("must have %d items", count)
	}
	return items, nil
}
"#;

const LIST: &str = r#"
func readList[T any](read func(json.RawMessage) (T, error)) func(json.RawMessage) ([]T, error) {
	return func(data json.RawMessage) ([]T, error) {
		if len(data) == 0 || data[0] != '[' {
			return nil, errors.New("must be an array")
		}
		var raw []json.RawMessage
		if err := json.Unmarshal(data, &raw); err != nil {
			return nil, err
		}
		items := make([]T, 0, len(raw))
		for position, item := range raw {
			value, err := read(item)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", position, err)
			}
			items = append(items, value)
		}
		return items, nil
	}
}
"#;

const MAP: &str = r#"
func readMap[T any](read func(json.RawMessage) (T, error)) func(json.RawMessage) (map[string]T, error) {
	return func(data json.RawMessage) (map[string]T, error) {
		raw, err := readMembers(data)
		if err != nil {
			return nil, err
		}
		members := make(map[string]T, len(raw))
		for key, member := range raw {
			if members[key], err = read(member); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		return members, nil
	}
}
"#;

const MEMBERS: &str = r#"
// readMembers reads the members of an object by their exact names.
func readMembers(data json.RawMessage) (map[string]json.RawMessage, error) {
	if len(data) == 0 || data[0] != '{' {
		return nil, errors.New("must be an object")
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(data, &members)
	return members, err
}
"#;

const NAMED: &str = r#"
func readNamed[T any, P interface {
	*T
	json.Unmarshaler
}](data json.RawMessage) (T, error) {
	var value T
	err := P(&value).UnmarshalJSON(data)
	return value, err
}
"#;

const NOTHING: &str = r#"
func readNothing(members map[string]json.RawMessage) error {
	for key := range members {
		return fmt.Errorf("%q is not in the contract", key)
	}
	return nil
}
"#;

const NULL: &str = r#"
func readNull(data json.RawMessage) (any, error) {
	if string(data) != "null" {
		return nil, errors.New("must be null")
	}
	return nil, nil
}
"#;

const NULLABLE: &str = r#"
func readNullable[T any](read func(json.RawMessage) (T, error)) func(json.RawMessage) (*T, error) {
	return func(data json.RawMessage) (*T, error) {
		if string(data) == "null" {
			return nil, nil
		}
		value, err := read(data)
		return &value, err
	}
}
"#;

const NUMBER: &str = r#"
func readNumber(data json.RawMessage) (float64, error) {
	if len(data) == 0 || (data[0] != '-' && (data[0] < '0' || data[0] > '9')) {
		return 0, errors.New("must be a number")
	}
	return strconv.ParseFloat(string(data), 64)
}
"#;

const OPTIONAL: &str = r#"
func readOptional[T any](members map[string]json.RawMessage, key string, read func(json.RawMessage) (T, error), into *T) error {
	data, found := members[key]
	if !found {
		return nil
	}
	delete(members, key)
	value, err := read(data)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	*into = value
	return nil
}
"#;

const POINTER: &str = r#"
func readPointer[T any](read func(json.RawMessage) (T, error)) func(json.RawMessage) (*T, error) {
	return func(data json.RawMessage) (*T, error) {
		value, err := read(data)
		return &value, err
	}
}
"#;

const REQUIRED: &str = r#"
func readRequired[T any](members map[string]json.RawMessage, key string, read func(json.RawMessage) (T, error), into *T) error {
	data, found := members[key]
	if !found {
		return fmt.Errorf("%s: must be there", key)
	}
	delete(members, key)
	value, err := read(data)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	*into = value
	return nil
}
"#;

const REST: &str = r#"
func readRest[T any](raw map[string]json.RawMessage, read func(json.RawMessage) (T, error)) (map[string]T, error) {
	members := make(map[string]T, len(raw))
	for key, data := range raw {
		value, err := read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		members[key] = value
	}
	return members, nil
}
"#;

const TEXT: &str = r#"
func readText(data json.RawMessage) (string, error) {
	if len(data) == 0 || data[0] != '"' {
		return "", errors.New("must be a string")
	}
	var text string
	err := json.Unmarshal(data, &text)
	return text, err
}
"#;

const WHOLE: &str = r#"
// readWhole reads an integer however it is written: 1.0 is one.
func readWhole(data json.RawMessage) (int64, error) {
	if len(data) == 0 || (data[0] != '-' && (data[0] < '0' || data[0] > '9')) {
		return 0, errors.New("must be an integer")
	}
	if whole, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		return whole, nil
	}
	float, err := strconv.ParseFloat(string(data), 64)
	if err != nil || float != math.Trunc(float) || math.Abs(float) >= 1<<63 {
		return 0, errors.New("must be an integer of 64 bits")
	}
	return int64(float), nil
}
"#;
