mod connections;
mod controls;
mod explicit;
mod faults;
mod options;
mod scripts;
