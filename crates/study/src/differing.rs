//! Where two values differ.

/// Keys that differ, at most five.
pub(crate) fn differing(a: &serde_json::Value, b: &serde_json::Value, path: &str) -> Vec<String> {
    let null = serde_json::Value::Null;
    let below = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    let mut all = match (a, b) {
        (serde_json::Value::Object(own), serde_json::Value::Object(other)) => {
            let keys: std::collections::BTreeSet<&String> =
                own.keys().chain(other.keys()).collect();
            let of = |key: &&String| {
                let get =
                    |map: &serde_json::Map<_, _>| map.get(*key).cloned().unwrap_or(null.clone());
                differing(&get(own), &get(other), &below(key))
            };
            keys.iter().flat_map(of).collect()
        }
        (serde_json::Value::Array(own), serde_json::Value::Array(other))
            if own.len() == other.len() =>
        {
            let pairs = own.iter().zip(other).enumerate();
            pairs.flat_map(|(at, (a, b))| differing(a, b, &below(&at.to_string()))).collect()
        }
        (a, b) if a == b => vec![],
        _ => vec![path.to_string()],
    };
    all.truncate(5);
    all
}
