import { boot } from "./boot.ts";

await boot(process.env, process.argv.slice(1));
