//! Whether a paper's claims hold, in sentences of ours, each with the verdicts that it rests on.

use super::{InSet, Verdict, Word, files};
use incast_experiment::fault::wrong;
use incast_experiment::{Fault, nearest};
use serde::Deserialize;

/// The file of a paper.
const FILE: &str = "answer.toml";

/// What follows a sentence that the tables no longer bear out.
pub(super) const DENIED: &str = "(the tables say otherwise";

/// The answer of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    says: Vec<Sentence>,
    /// Figures of the paper without an experiment.
    #[serde(default)]
    left_out: Vec<LeftOut>,
}

/// A figure, and where else to look.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    figure: String,
    why: String,
}

/// One sentence, or two.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentence {
    text: String,
    /// For the paper's own page, and not for the summary of all papers.
    #[serde(default)]
    detail: bool,
    rests_on: Vec<Ground>,
}

/// Claims of a figure that have a verdict.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ground {
    figure: String,
    claims: Vec<String>,
    set: String,
    verdict: Word,
    /// What was measured of each claim, of which a sentence has numbers: beginnings of texts of verdicts, or of
    /// why a number is not judged.
    #[serde(default)]
    measured: Vec<String>,
}

/// The paragraph of a paper in the summary, from its folder and its verdicts: its answer without the
/// details. What the tables say otherwise is said behind the sentence.
///
/// # Errors
/// A file that cannot be read, a sentence that rests on nothing, or what does not exist: a figure,
/// a claim or a set.
pub(super) fn paragraph(paper: &str, verdicts: &[&Verdict]) -> Result<String, Fault> {
    let (place, answer) = read(paper)?;
    said(&answer, verdicts).map(brief).map_err(|fault| fault.placed(place))
}

fn brief(said: Vec<(&Sentence, String)>) -> String {
    let all = said.into_iter().filter(|(sentence, _)| !sentence.detail);
    all.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// The answer of a paper on its own page, with all details, a paragraph for each sentence.
///
/// # Errors
/// As of [`paragraph`].
pub(super) fn section(paper: &str, verdicts: &[&Verdict]) -> Result<String, Fault> {
    let (place, answer) = read(paper)?;
    let all = said(&answer, verdicts).map_err(|fault| fault.placed(place))?;
    let all = all.into_iter().map(|(_, text)| format!("{text}\n\n"));
    Ok(format!("## Does it hold?\n\n{}", all.collect::<String>()))
}

/// The figures of a paper that have no experiment, and why.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn left_out(paper: &str) -> Result<String, Fault> {
    let (_, answer) = read(paper)?;
    if answer.left_out.is_empty() {
        return Ok(String::new());
    }
    let lines = answer.left_out.iter().map(|one| format!("- {}: {}\n", one.figure, one.why));
    Ok(format!("## Figures without an experiment\n\n{}", lines.collect::<String>()))
}

fn read(paper: &str) -> Result<(String, Answer), Fault> {
    let place = format!("{paper}/{FILE}");
    let text = files::text(&place)?;
    let wrong = |error: toml::de::Error| Fault::new(error.to_string()).placed(&*place);
    Ok((place.clone(), toml::from_str(text).map_err(wrong)?))
}

/// Each sentence with its text, behind which stands what the tables say otherwise.
fn said<'a>(
    answer: &'a Answer,
    verdicts: &[&Verdict],
) -> Result<Vec<(&'a Sentence, String)>, Fault> {
    let mut sentences = vec![];
    for sentence in &answer.says {
        let Sentence { text, rests_on, .. } = sentence;
        if rests_on.iter().all(|ground| ground.claims.is_empty()) {
            return Err(Fault::new(format!("`{text}` rests on no claim")));
        }
        let mut denied = vec![];
        for ground in rests_on {
            if !ground.measured.is_empty() && ground.measured.len() != ground.claims.len() {
                return Err(Fault::new(format!("`{text}`: `measured` needs one for each claim")));
            }
            for (at, claim) in ground.claims.iter().enumerate() {
                let found = look(ground, claim, verdicts)?;
                let known = ground.measured.get(at).is_none_or(|own| found.says(own));
                if found.verdict != ground.verdict {
                    denied.push(format!("{claim}, {}: {}", ground.set, found.verdict.text()));
                } else if !known {
                    denied.push(format!("{claim}, {}: {}", ground.set, found.measured));
                }
            }
        }
        let text = match denied.is_empty() {
            true => text.trim().to_string(),
            false => format!("{} {DENIED}: {})", text.trim(), denied.join("; ")),
        };
        sentences.push((sentence, text));
    }
    Ok(sentences)
}

/// The verdict on a claim in a set.
fn look<'a>(ground: &Ground, claim: &str, verdicts: &[&'a Verdict]) -> Result<&'a InSet, Fault> {
    let Ground { figure, set, .. } = ground;
    let of = verdicts.iter().filter(|one| one.experiment == *figure);
    let of: Vec<&'a Verdict> = of.copied().collect();
    if of.is_empty() {
        let hint = nearest(figure, verdicts.iter().map(|one| one.experiment.as_str()));
        let problem = wrong(format!("no claims of a figure `{figure}`"));
        return Err(Fault::new(problem.meant(hint)));
    }
    let Some(verdict) = of.iter().find(|one| one.claim == claim) else {
        let hint = nearest(claim, of.iter().map(|one| one.claim.as_str()));
        let problem = wrong(format!("{figure} has no claim `{claim}`"));
        return Err(Fault::new(problem.meant(hint)));
    };
    match verdict.sets.iter().find(|one| one.set == *set) {
        Some(one) => Ok(one),
        None => {
            let hint = nearest(set, verdict.sets.iter().map(|one| one.set.as_str()));
            let problem = wrong(format!("{figure} has no set `{set}`"));
            Err(Fault::new(problem.meant(hint)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict() -> Verdict {
        let in_set = |set: &str, verdict| InSet {
            set: set.into(),
            measured: "38 % lower".into(),
            verdict,
            dataplane: None,
            real_time: vec![],
        };
        Verdict {
            experiment: "ren/fig16".into(),
            claim: "AFCT against pHost".into(),
            quote: "41 % lower".into(),
            paper: "41".into(),
            accepted: "20 to 80".into(),
            sets: vec![in_set("as_published", Word::Matches), in_set("as_compared", Word::Differs)],
            sentence: String::new(),
            deviation: String::new(),
            headline: true,
            as_run: vec![],
            equation: false,
        }
    }

    fn said(figure: &str, claim: &str, set: &str, word: &str) -> Result<String, String> {
        said_of(figure, claim, set, word, &[])
    }

    fn said_of(
        figure: &str,
        claim: &str,
        set: &str,
        word: &str,
        measured: &[&str],
    ) -> Result<String, String> {
        let ground = format!(
            "{{ figure = {figure:?}, claims = [{claim:?}], set = {set:?}, verdict = {word:?}, \
             measured = {measured:?} }}"
        );
        let text = format!("[[says]]\ntext = 'It does.'\nrests_on = [{ground}]");
        let answer: Answer = toml::from_str(&text).unwrap();
        let all = super::said(&answer, &[&verdict()]).map_err(|fault| fault.to_string())?;
        Ok(all.into_iter().map(|(_, text)| text).collect())
    }

    #[test]
    fn a_sentence_stands_while_the_tables_bear_it_out() {
        let said = |set, word| said("ren/fig16", "AFCT against pHost", set, word).unwrap();
        assert_eq!(said("as_published", "matches"), "It does.");
        assert_eq!(said("as_compared", "differs"), "It does.");
        let otherwise = "(the tables say otherwise: AFCT against pHost, as_compared: differs)";
        assert_eq!(said("as_compared", "matches"), format!("It does. {otherwise}"));
    }

    #[test]
    fn the_summary_leaves_out_details_which_must_rest_on_tables_all_the_same() {
        let ground = "{ figure = 'ren/fig16', claims = ['AFCT against pHost'], set = 'as_published', verdict = 'WORD' }";
        let says = |word: &str| {
            let ground = ground.replace("WORD", word);
            format!(
                "[[says]]\ntext = 'It does.'\nrests_on = [{ground}]\n\
                 [[says]]\ndetail = true\ntext = 'By a third.'\nrests_on = [{ground}]\n\
                 [[says]]\ntext = 'Mostly.'\nrests_on = [{ground}]"
            )
        };
        let answer: Answer = toml::from_str(&says("matches")).unwrap();
        let all = super::said(&answer, &[&verdict()]).unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!(brief(all), "It does. Mostly.");
        let denied: Answer = toml::from_str(&says("differs")).unwrap();
        let denied = super::said(&denied, &[&verdict()]).unwrap();
        assert!(denied.iter().all(|(_, text)| text.contains(DENIED)));
    }

    #[test]
    fn a_number_is_that_of_the_tables() {
        let said = |measured: &[&str]| {
            said_of("ren/fig16", "AFCT against pHost", "as_published", "matches", measured)
        };
        assert_eq!(said(&["38 %"]).unwrap(), "It does.");
        let otherwise = "(the tables say otherwise: AFCT against pHost, as_published: 38 % lower)";
        assert_eq!(said(&["37 %"]).unwrap(), format!("It does. {otherwise}"));
        assert!(said(&["38 %", "37 %"]).unwrap_err().contains("one for each claim"));
        let unjudged = InSet {
            measured: "7 % lower, but ren never reaches balance (0.7)".into(),
            ..verdict().sets[0].clone()
        };
        assert!(unjudged.says("7 %") && unjudged.says("ren never") && !unjudged.says("balance"));
    }

    #[test]
    fn grounds_must_exist() {
        let wrong = |figure, claim, set| said(figure, claim, set, "matches").unwrap_err();
        let claim = "AFCT against pHost";
        let figure = wrong("ren/fig61", claim, "as_published");
        assert!(figure.contains("`ren/fig61`: did you mean `ren/fig16`?"), "{figure}");
        let other = wrong("ren/fig16", "AFCT against Homa", "as_published");
        assert!(other.contains("no claim `AFCT against Homa`: did you mean"), "{other}");
        let set = wrong("ren/fig16", claim, "as_publishd");
        assert!(set.contains("no set `as_publishd`: did you mean `as_published`?"), "{set}");
        let nothing: Answer = toml::from_str("[[says]]\ntext = 'So.'\nrests_on = []").unwrap();
        let nothing = super::said(&nothing, &[]).unwrap_err();
        assert!(nothing.to_string().contains("`So.` rests on no claim"));
    }
}
