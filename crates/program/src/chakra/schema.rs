//! What is read of the messages of Chakra's `et_def.proto`; members that are not here are skipped.

/// A list of truth values.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Bools {
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

/// The value of an attribute: writers differ in which member they take for a whole number.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Value {
    /// The whole number, whatever member has it.
    pub fn whole(&self) -> Option<i128> {
        Some(match self {
            Value::Int32(number) | Value::Sint32(number) | Value::Sfixed32(number) => {
                (*number).into()
            }
            Value::Int64(number) | Value::Sint64(number) | Value::Sfixed64(number) => {
                (*number).into()
            }
            Value::Uint32(number) | Value::Fixed32(number) => (*number).into(),
            Value::Uint64(number) | Value::Fixed64(number) => (*number).into(),
            _ => return None,
        })
    }
}

/// A named value.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// The first message of a file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Metadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

/// What a rank does.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_us: u64,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
}

pub(super) const METADATA: i32 = 1;
pub(super) const MEMORY_LOAD: i32 = 2;
pub(super) const MEMORY_STORE: i32 = 3;
pub(super) const COMPUTE: i32 = 4;
pub(super) const SEND: i32 = 5;
pub(super) const RECEIVE: i32 = 6;
pub(super) const COLLECTIVE: i32 = 7;
