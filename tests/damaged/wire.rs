//! Protobuf messages as trees, without a schema: enough to damage a network file at any place of its structure.

/// A field of a message.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its number in the schema.
    pub number: u64,
    /// Its value.
    pub value: Value,
}

/// The value of a field.
#[derive(Clone, Debug)]
pub enum Value {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    Message(Vec<Field>),
    /// Bytes after a length that is not theirs.
    Lie(u64, Vec<u8>),
}

/// The fields of a message; `None` when the bytes are none.
///
/// Whether bytes are a message within a message, only a schema knows; here they are one if they can be read as one and
/// `is_message` (of the path of field numbers) does not deny it.
pub fn read(mut bytes: &[u8], path: &mut Vec<u64>, is_message: &dyn Fn(&[u64]) -> bool) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let number = tag >> 3;
        if number == 0 {
            return None;
        }
        let value = match tag & 7 {
            0 => Value::Varint(varint(&mut bytes)?),
            1 => Value::Fixed64(take(&mut bytes, 8)?.try_into().ok()?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let content = take(&mut bytes, length)?;
                path.push(number);
                let message = if is_message(path) { read(content, path, is_message) } else { None };
                path.pop();
                message.map_or_else(|| Value::Bytes(content.to_vec()), Value::Message)
            }
            5 => Value::Fixed32(take(&mut bytes, 4)?.try_into().ok()?),
            _ => return None,
        };
        fields.push(Field { number, value });
    }
    Some(fields)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(head)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The bytes of a message.
pub fn write(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let lengthy = |bytes: &mut Vec<u8>, number: u64, length: u64, content: &[u8]| {
        put(bytes, number << 3 | 2);
        put(bytes, length);
        bytes.extend_from_slice(content);
    };
    for Field { number, value } in fields {
        match value {
            Value::Varint(value) => {
                put(&mut bytes, number << 3);
                put(&mut bytes, *value);
            }
            Value::Fixed64(value) => {
                put(&mut bytes, number << 3 | 1);
                bytes.extend_from_slice(value);
            }
            Value::Fixed32(value) => {
                put(&mut bytes, number << 3 | 5);
                bytes.extend_from_slice(value);
            }
            Value::Bytes(content) => lengthy(&mut bytes, *number, content.len() as u64, content),
            Value::Message(inner) => {
                let content = write(inner);
                lengthy(&mut bytes, *number, content.len() as u64, &content);
            }
            Value::Lie(length, content) => lengthy(&mut bytes, *number, *length, content),
        }
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The paths (places among the fields, from the outermost message) of all fields that `wanted` chooses.
pub fn places(fields: &[Field], wanted: &dyn Fn(&Field) -> bool) -> Vec<Vec<usize>> {
    fn walk(fields: &[Field], path: &mut Vec<usize>, wanted: &dyn Fn(&Field) -> bool, found: &mut Vec<Vec<usize>>) {
        for (place, field) in fields.iter().enumerate() {
            path.push(place);
            if wanted(field) {
                found.push(path.clone());
            }
            if let Value::Message(inner) = &field.value {
                walk(inner, path, wanted, found);
            }
            path.pop();
        }
    }
    let mut found = Vec::new();
    walk(fields, &mut Vec::new(), wanted, &mut found);
    found
}

/// The message around the field at `path`, and the field's place in it.
pub fn around<'a>(fields: &'a mut Vec<Field>, path: &[usize]) -> (&'a mut Vec<Field>, usize) {
    let (&last, outer) = path.split_last().expect("a field has a place");
    let mut message = fields;
    for &place in outer {
        let Value::Message(inner) = &mut message[place].value else { panic!("{path:?} leads through no message") };
        message = inner;
    }
    (message, last)
}
