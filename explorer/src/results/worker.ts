import { expose } from "comlink";
import { session } from "./session";

expose(session);
