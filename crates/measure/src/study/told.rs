//! What a study says on a console: its warnings, what it is about over what varies, the numbers that decide, its sentence.

use super::facets::{Facets, Place};
use super::page::{headline, leading, warnings};
use super::paper::PaperTable;
use super::{StudyResults, StudyRow};
use crate::{Comparison, Summary};

/// Most lines of a table; the page has all.
const MOST: usize = 20;
/// Most places that are columns.
const COLUMNS: usize = 8;

/// The end of a study in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Its warnings, each with how many points have it.
    pub warnings: Vec<String>,
    /// Its tables, each under its title.
    pub tables: Vec<String>,
    /// Who is best, and whether the seeds tell that; empty where nothing is compared.
    pub headline: String,
}

impl Told {
    /// Of the points that are done. `summary` reads that of a row; tables have lines of at most `width` characters.
    ///
    /// # Errors
    /// Those of `summary`.
    pub fn of<E>(
        results: &StudyResults,
        width: usize,
        mut summary: impl FnMut(&StudyRow) -> Result<Option<Summary>, E>,
    ) -> Result<Told, E> {
        let facets = Facets::of(results);
        let places: Vec<&Place<'_>> = facets.places().collect();
        let Some((last, words)) = facets.last(results) else { return Ok(Told::default()) };
        // Of a single transport, what varies is side by side.
        let across = results.series.len() == 1
            && facets.all.len() == 1
            && (2..=COLUMNS).contains(&places.len());
        let mut tables = Vec::new();
        if places.len() > 1 && !across {
            let all = leading(results).into_iter();
            let all = all.filter_map(|one| PaperTable::laid_out(results, &facets, one));
            tables.extend(all.map(|table| table.text(width, MOST)));
        }
        let mut compared = Vec::new();
        for place in if across { places } else { vec![last] } {
            // In the order of the study's transports.
            let mut rows = place.rows.clone();
            rows.sort_by_key(|row| row.series);
            for row in rows {
                let Some(mut own) = summary(row)? else { continue };
                own.label = match across {
                    true => place.name.clone(),
                    false => results.series[row.series].clone(),
                };
                compared.push(own);
            }
        }
        let table = Comparison::of(&compared).with_classes(&compared);
        let title = match (across, words.as_str()) {
            (true, _) => format!("{}:\n\n", facets.along.axis(results).label()),
            (_, "") => String::new(),
            _ => format!("At {words}:\n\n"),
        };
        tables.push(title + &table.text(width, &table.deciding()));
        let headline = headline(results, &facets).text();
        Ok(Told { warnings: warnings(results), tables, headline })
    }
}
