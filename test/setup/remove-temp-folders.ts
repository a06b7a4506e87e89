import { afterAll } from "vitest";
import { removeTempFolders } from "./temp-folder.ts";

// A setup file is run for each file of tests; a module that tests share is loaded once for all of them,
// and a hook of its own would end after the first.
afterAll(removeTempFolders);
