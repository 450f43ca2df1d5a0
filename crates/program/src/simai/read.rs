//! The text of a workload.

use super::groups::{Group, Groups};
use super::workload::{Layer, Pass, Wanted, Workload};
use crate::build::Collective;
use crate::error::{Place, ProgramError};
use incast_units::fault::{Problem, one_of, wrong};
use std::ops::Range;

/// Those whose layers go forward one after the other, then backward.
const POLICIES: [&str; 2] = ["HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER"];

/// The layer with which AICB begins a micro-batch.
const FIRST_OF_BATCH: &str = "embedding_layer";

/// Most ranks of a workload: of hosts of a fabric.
const MOST_RANKS: u64 = 1 << 22;

const KINDS: [(&str, Collective); 4] = [
    ("ALLREDUCE", Collective::AllReduce),
    ("ALLGATHER", Collective::AllGather),
    ("REDUCESCATTER", Collective::ReduceScatter),
    ("ALLTOALL", Collective::AllToAll),
];

struct Reader<'a> {
    file: &'a str,
    line: u32,
}

/// What the first line says.
#[derive(Default)]
struct Header {
    tp: Option<u64>,
    ep: Option<u64>,
    pp: Option<u64>,
    vpp: Option<u64>,
    ga: Option<u64>,
    all: Option<u64>,
    pp_comm: Option<u64>,
    checkpoints: Vec<u64>,
    initiates: Vec<u64>,
}

/// Whether a file begins as one of SimAI: a policy, then `key: value` pairs.
pub(crate) fn is_simai(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    let line = String::from_utf8_lossy(line);
    let mut words = line.trim_start_matches('\u{feff}').split_whitespace();
    let policy = words.next().unwrap_or("");
    POLICIES.contains(&policy)
        || policy.starts_with("HYBRID_")
        || policy.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            && words.any(|word| word == "model_parallel_NPU_group:" || word == "all_gpus:")
}

impl Workload {
    /// Reads the text of a workload.
    ///
    /// # Errors
    /// What is wrong in the file, with its line.
    pub fn read(file: &str, text: &str) -> Result<Workload, ProgramError> {
        read(file, text)
    }
}

fn read(file: &str, text: &str) -> Result<Workload, ProgramError> {
    let mut reader = Reader { file, line: 1 };
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header = reader.header(lines.next().unwrap_or(""))?;
    let groups = reader.groups(&header)?;
    reader.line = 2;
    let count = lines.next().unwrap_or("");
    let count = reader.whole("number of layers", count.trim(), 1, u32::MAX.into())?;
    let (mut layers, mut begins) = (vec![], vec![]);
    let mut rest = 0;
    for line in lines {
        reader.line += 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            _ if layers.len() as u64 == count => rest += 1,
            words => {
                if words[0] == FIRST_OF_BATCH {
                    begins.push(layers.len() as u32);
                }
                layers.push(reader.layer(words)?);
            }
        }
    }
    if (layers.len() as u64) < count {
        return reader.fail(
            wrong(format!("the file ends after {} layers", layers.len()))
                .expected(format!("{count}, as line 2 says")),
        );
    }
    reader.line = 1;
    reader.checkpoints(&header, &mut layers)?;
    let mut taken = header.taken(&groups);
    if rest > 0 {
        taken.push(format!("the first {count} layers, as line 2 says; {rest} more lines are left"));
    }
    if header.initiates.iter().any(|_| true) {
        taken.push(
            "layers between checkpoints go forward again before they go backward, which SimAI's own reader leaves out"
                .into(),
        );
    }
    let (batches, pp_bytes) = batches(&header, &begins, layers.len() as u32, &mut taken);
    Ok(Workload { file: file.into(), groups, layers, batches, pp_bytes, taken })
}

/// The layers of each micro-batch, where there are stages that exchange data, and how much.
fn batches(
    header: &Header,
    begins: &[u32],
    layers: u32,
    taken: &mut Vec<String>,
) -> (Vec<Range<u32>>, u64) {
    let pp = header.pp.unwrap_or(1);
    let bytes = header.pp_comm.unwrap_or(0);
    if pp <= 1 {
        return (vec![], 0);
    }
    if bytes == 0 {
        taken.push(format!(
            "{pp} stages that send each other nothing: `pp_comm` is not there, or 0"
        ));
        return (vec![], 0);
    }
    let ga = header.ga.unwrap_or(1);
    let ends = begins.iter().skip(1).copied().chain([layers]);
    let mut batches: Vec<Range<u32>> =
        begins.iter().zip(ends).map(|(from, to)| *from..to).collect();
    if batches.len() as u64 != ga {
        let found = batches.len();
        taken.push(format!(
            "one micro-batch: `ga` says {ga}, but {found} layers are named `{FIRST_OF_BATCH}`, with which AICB begins one"
        ));
        batches = std::iter::once(0..layers).collect();
    }
    taken.push(format!(
        "{pp} stages of neighbouring ranks, each with all layers of the file; a rank sends {bytes} bytes to the next stage and \
         back per micro-batch ({}), all of which go forward before the first goes backward",
        batches.len()
    ));
    if let Some(vpp) = header.vpp.filter(|vpp| *vpp > 1) {
        taken.push(format!("stages that are not interleaved, though `vpp` is {vpp}"));
    }
    (batches, bytes)
}

impl Header {
    /// What was not there.
    fn taken(&self, groups: &Groups) -> Vec<String> {
        let mut taken = vec![];
        if self.tp.unwrap_or(0) == 0 {
            let ranks = groups.ranks;
            taken.push(format!(
                "one tensor-parallel group of all {ranks} ranks: `model_parallel_NPU_group:` is not there, or 0"
            ));
        }
        let keys = [("ep", self.ep), ("pp", self.pp), ("ga", self.ga)];
        let missing: Vec<String> = keys
            .iter()
            .filter(|(_, value)| value.unwrap_or(0) == 0)
            .map(|(key, _)| format!("`{key}:` 1"))
            .collect();
        if !missing.is_empty() {
            taken.push(format!("{}, which is not there, or 0", missing.join(", ")));
        }
        taken
    }
}

impl Reader<'_> {
    fn fail<T>(&self, problem: impl Into<Problem>) -> Result<T, ProgramError> {
        Err(ProgramError::new(self.file, Place::Line(self.line), problem))
    }

    /// A whole number; AICB writes some of them as `8388608.0`.
    fn whole(&self, what: &str, word: &str, least: u64, most: u64) -> Result<u64, ProgramError> {
        let number = word.parse::<u64>().ok().or_else(|| {
            let number = word.parse::<f64>().ok()?;
            (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
        });
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(number),
            None => {
                let range = match most {
                    u64::MAX => format!("a whole number from {least}"),
                    _ => format!("a whole number from {least} to {most}"),
                };
                self.fail(wrong(format!("{what} `{word}`")).expected(range))
            }
        }
    }

    fn header(&self, line: &str) -> Result<Header, ProgramError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((policy, mut rest)) = words.split_first() else {
            return self.fail(wrong("an empty line").expected(format!("`{} ...`", POLICIES[0])));
        };
        if !POLICIES.contains(policy) {
            return self.fail(one_of(policy, POLICIES).in_part(&format!("policy `{policy}`")));
        }
        let mut header = Header::default();
        while let [key, more @ ..] = rest {
            let name = key.trim_end_matches(':');
            let [value, more @ ..] = more else {
                return self.fail(wrong(format!("`{key}` without a value")).expected("a number"));
            };
            let number = self.whole(name, value, 0, u64::MAX)?;
            rest = more;
            let list = match name {
                "model_parallel_NPU_group" => &mut header.tp,
                "ep" => &mut header.ep,
                "pp" => &mut header.pp,
                "vpp" => &mut header.vpp,
                "ga" => &mut header.ga,
                "all_gpus" => &mut header.all,
                "pp_comm" => &mut header.pp_comm,
                "checkpoints" | "checkpoint_initiates" => {
                    let count = usize::try_from(number).unwrap_or(usize::MAX);
                    if more.len() < count {
                        let found = more.len();
                        return self.fail(
                            wrong(format!("`{key} {value}` with {found} words behind it"))
                                .expected("as many layers as it says"),
                        );
                    }
                    let (listed, more) = more.split_at(count);
                    let listed: Result<Vec<u64>, _> =
                        listed.iter().map(|word| self.whole(name, word, 0, u64::MAX)).collect();
                    match name {
                        "checkpoints" => header.checkpoints = listed?,
                        _ => header.initiates = listed?,
                    }
                    rest = more;
                    continue;
                }
                // Other programs add keys of their own.
                _ => continue,
            };
            *list = Some(number);
        }
        Ok(header)
    }

    fn groups(&self, header: &Header) -> Result<Groups, ProgramError> {
        let Some(all) = header.all.filter(|all| *all > 0) else {
            return self.fail(wrong("no number of ranks").expected("`all_gpus: N`, N from 1"));
        };
        let check = |what: &str, value: u64, of: u64, whole: &str| match value > 0
            && of.is_multiple_of(value)
        {
            true => Ok(value as u32),
            false => self.fail(
                wrong(format!("{what} {value}")).expected(format!("a divisor of {of}, {whole}")),
            ),
        };
        let or_one = |value: Option<u64>| value.filter(|value| *value > 0).unwrap_or(1);
        let all = self.whole("all_gpus", &all.to_string(), 1, MOST_RANKS)?;
        let tp = header.tp.filter(|tp| *tp > 0).unwrap_or(all);
        let tp = check("model_parallel_NPU_group", tp, all, "all_gpus")?;
        let lanes = all / u64::from(tp);
        let pp = check("pp", or_one(header.pp), lanes, "all_gpus over model_parallel_NPU_group")?;
        let dp = lanes / u64::from(pp);
        let ep = check("ep", or_one(header.ep), dp, "the ranks of a data-parallel group")?;
        Ok(Groups { ranks: all as u32, tp, ep, pp })
    }

    fn layer(&self, words: &[&str]) -> Result<Layer, ProgramError> {
        let [name, dependency, forward @ .., update] = words else {
            return self.fail(wrong("1 word").expected(FIELDS));
        };
        if words.len() != 12 {
            return self.fail(wrong(format!("{} words", words.len())).expected(FIELDS));
        }
        if dependency.parse::<i64>().is_err() {
            let problem = wrong(format!("dependency `{dependency}` of `{name}`"));
            return self.fail(problem.expected("a whole number, -1 for none"));
        }
        let pass = |at: usize, what: &str, plain: Group| {
            let ns = self.whole(&format!("{what} time"), forward[at], 0, u64::MAX / 1_000)?;
            let bytes = self.whole(&format!("{what} bytes"), forward[at + 2], 0, u64::MAX)?;
            let wanted = self.kind(what, forward[at + 1], plain)?;
            let wanted = wanted.filter(|_| bytes > 0);
            Ok(Pass { ns, wanted: wanted.map(|(kind, group)| Wanted { kind, group, bytes }) })
        };
        Ok(Layer {
            line: self.line,
            forward: pass(0, "forward", Group::Tp)?,
            input: pass(3, "input gradient", Group::Tp)?,
            weight: pass(6, "weight gradient", Group::Dp)?,
            update: self.whole("update time", update, 0, u64::MAX / 1_000)?,
            again_from: None,
        })
    }

    /// The collective of a word, and its group: of one without a suffix that of its pass.
    fn kind(
        &self,
        what: &str,
        word: &str,
        plain: Group,
    ) -> Result<Option<(Collective, Group)>, ProgramError> {
        if word == "NONE" {
            return Ok(None);
        }
        let found = KINDS.iter().find_map(|(name, kind)| {
            let group = match word.strip_prefix(name)? {
                "" => plain,
                "_EP" => Group::Ep,
                "_DP_EP" => Group::DpEp,
                _ => return None,
            };
            Some((*kind, group))
        });
        match found {
            Some(found) => Ok(Some(found)),
            None => {
                let names: Vec<String> = KINDS
                    .iter()
                    .flat_map(|(name, _)| ["", "_EP", "_DP_EP"].map(|end| format!("{name}{end}")))
                    .chain(["NONE".into()])
                    .collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.fail(one_of(word, names).in_part(&format!("{what} collective `{word}`")))
            }
        }
    }

    /// Layers that begin with repeating forward passes: from the last checkpoint before them, to the layer before.
    fn checkpoints(&self, header: &Header, layers: &mut [Layer]) -> Result<(), ProgramError> {
        for layer in header.checkpoints.iter().chain(&header.initiates) {
            if *layer >= layers.len() as u64 {
                return self.fail(
                    wrong(format!("checkpoint at layer {layer}"))
                        .expected(format!("a layer from 0 to {}", layers.len() - 1)),
                );
            }
        }
        for layer in &header.initiates {
            let before = header.checkpoints.iter().filter(|checkpoint| *checkpoint <= layer).max();
            let Some(first) = before else {
                return self.fail(
                    wrong(format!("layer {layer} in checkpoint_initiates"))
                        .expected("a layer in checkpoints at it or before it"),
                );
            };
            layers[*layer as usize].again_from = Some(*first as u32);
        }
        Ok(())
    }
}

const FIELDS: &str = "12: name, dependency, time, collective and bytes of forward, input gradient and weight gradient, and the \
                      time of the update";
