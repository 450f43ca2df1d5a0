mod explicit;
mod faults;
mod options;
mod scripts;
mod world;
