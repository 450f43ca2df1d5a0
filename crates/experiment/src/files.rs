//! Files as bytes and as text.

use crate::Fault;
use crate::fault::wrong;
use incast_measure::StoredTable;
use incast_program::{is_binary_goal, read_goal, write_text};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Content of a file as bytes.
pub fn bytes_of(name: &str) -> Result<Vec<u8>, Fault> {
    let read = std::fs::read(Path::new(name));
    read.map_err(|error| Fault::new(format!("could not read: {error}")).placed(name))
}

/// Content of a file as text; the flows of a `flows.parquet` as those of its `flows.csv`, a binary program as its text.
pub fn text_of<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, Fault> {
    if is_binary_goal(bytes) {
        let program = read_goal(name, bytes)?;
        return Ok(write_text(&program).into());
    }
    if bytes.starts_with(b"PAR1") {
        let flows = flows_of(bytes.to_vec());
        return flows.map(Cow::from).map_err(|problem| Fault::new(problem).placed(name));
    }
    std::str::from_utf8(bytes).map(Cow::from).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = bytes[good.len()];
        let problem = wrong(format!("the byte 0x{byte:02x} is not valid text")).expected("UTF-8");
        Fault::new(problem).on_line(name, line)
    })
}

/// What a flow list needs of the flows of a run, as a flow list.
fn flows_of(bytes: Vec<u8>) -> Result<String, String> {
    let table = StoredTable::new(bytes.into())?;
    let [src, dst, size, start] = ["src", "dst", "size_bytes", "start_ps"].map(|name| {
        let column = table.numbers(name);
        column.map_err(|error| format!("not the flows of a run: {error}"))
    });
    let (src, dst, size, start) = (src?, dst?, size?, start?);
    let class = table.texts("class").map_err(|error| format!("not the flows of a run: {error}"))?;
    let rows = table.rows();
    if [&src, &dst, &size, &start].iter().any(|column| column.len() != rows)
        || class.codes.len() != rows
    {
        return Err(format!("the file is damaged: its columns do not have its {rows} rows"));
    }
    // Results of earlier versions have no such columns.
    let [priority, until] = ["priority", "until_ps"].map(|name| table.numbers(name).ok());
    let mut text = "flow_id,src,dst,class,size_bytes,start_ps,priority,until_ps\n".to_string();
    let known = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
    for flow in 0..rows {
        let class = &class.names[class.codes[flow] as usize];
        let (src, dst, size, start) = (src[flow], dst[flow], size[flow], start[flow]);
        let start = known(start);
        let more = [&priority, &until].map(|column| {
            let value = column.as_ref().and_then(|values| values.get(flow));
            value.map_or(String::new(), |value| known(*value))
        });
        let [priority, until] = more;
        writeln!(text, "{flow},{src},{dst},{class},{size},{start},{priority},{until}")
            .expect("a string takes all");
    }
    Ok(text)
}
