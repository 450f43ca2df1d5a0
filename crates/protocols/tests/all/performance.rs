//! `docs/performance.md` is what the tables of the releases give.

#[path = "../../benches/guard/page.rs"]
mod page;
#[path = "../../benches/guard/table.rs"]
#[allow(dead_code, reason = "the bench alone writes tables")]
mod table;

#[test]
fn the_page_is_that_of_the_tables() {
    page::check();
}
