mod faults;
mod scripts;
mod world;
