mod explicit;
mod faults;
mod laws;
mod options;
mod scripts;
