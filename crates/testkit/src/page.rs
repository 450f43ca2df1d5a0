use std::path::Path;
use std::sync::Mutex;

/// Tests of one program renew parts of the same page.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares a part of a page with what a program gives; with `UPDATE_DOCS=1` it is written instead.
/// The part stands between a line `<!-- PART: generated ... -->` and `<!-- end of PART -->`; `page`
/// is relative to the repository.
///
/// # Panics
/// The page has no such part, or another text.
pub fn check_part(page: &str, part: &str, made: &str) {
    let _alone = WRITING.lock();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let place = |mark: &str, from: usize| {
        let found = text[from..].find(mark);
        from + found.unwrap_or_else(|| panic!("{page} has no `{mark}`"))
    };
    let head = place(&format!("<!-- {part}: generated"), 0);
    let begin = place("-->\n", head) + "-->\n".len();
    let end = place(&format!("<!-- end of {part} -->"), begin);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let renewed = format!("{}{made}{}", &text[..begin], &text[end..]);
        std::fs::write(&path, renewed).unwrap_or_else(|error| panic!("{page}: {error}"));
        return;
    }
    assert_eq!(&text[begin..end], made, "{page}: UPDATE_DOCS=1 renews {part}");
}
