import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAcpMessage } from "../../../core/acp/acp-message.ts";
import { choosePermission } from "../../../core/acp/choose-permission.ts";
import { mergeToolCall, readToolCall, type ToolCall } from "../../../core/acp/tool-call.ts";

describe("a line of an agent's output", () => {
  test.for([
    ['{"jsonrpc":"2.0","id":3,"result":{}}', "answer"],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', "answer"],
    ['{"jsonrpc":"2.0","id":"a","method":"fs/read_text_file","params":{}}', "request"],
    ['{"jsonrpc":"2.0","method":"session/update","params":{}}', "notification"],
    ['{"jsonrpc":"1.0","id":3,"result":{}}', "noise"],
    ['{"jsonrpc":"2.0"}', "noise"],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"x"}', "noise"],
    [`{"jsonrpc":"2.0","id":"${"i".repeat(300)}","method":"x"}`, "noise"],
    ['[{"jsonrpc":"2.0","id":3,"result":{}}]', "noise"],
    ["warning: something", "noise"],
    ["", "noise"],
    ["[".repeat(200_000), "noise"],
  ] as const)("%s is a %s", ([line, kind]) => {
    expect(readAcpMessage(line).kind).toBe(kind);
  });

  test.for([
    ['"result":{"a":1}', { result: { a: 1 } }],
    ['"error":{"code":-32000,"message":"m"}', { error: { code: -32_000, message: "m" } }],
    ['"error":"no"', { error: { code: -32_600 } }],
    ['"result":1,"error":{"code":1,"message":"m"}', { error: { code: -32_600 } }],
    ['"x":1', { error: { code: -32_600 } }],
  ] as const)("an answer with %s says %j", ([fields, says]) => {
    const read = readAcpMessage(`{"jsonrpc":"2.0","id":7,${fields}}`);
    expect(read).toMatchObject({ kind: "answer", message: { id: 7, ...says } });
  });

  test("whatever it holds, reading it throws nothing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        expect(() => readAcpMessage(line)).not.toThrow();
      }),
    );
  });
});

describe("a permission is given by the option's kind", () => {
  test.for([
    [["reject_once:no", "allow_once:once", "allow_always:always"], "always"],
    [
      ["allow_always:proceed_always", "allow_once:proceed_once", "reject_once:cancel"],
      "proceed_always",
    ],
    [["reject_once:no", "allow_once:yes"], "yes"],
    [["allow_always:a", "allow_once:bypassPermissions"], "bypassPermissions"],
    [["reject_once:no", "reject_always:never"], "no"],
    [[], "default"],
  ] as const)("of %j it takes %s", ([options, chosen]) => {
    const parsed = options.map((option) => {
      const [kind = "", optionId = ""] = option.split(":");
      return { kind, optionId };
    });
    expect(choosePermission(parsed)).toBe(chosen);
  });
});

/** What a series of updates comes to. */
function told(...updates: readonly object[]): ToolCall | null {
  let call: ToolCall | null = null;
  for (const update of updates) {
    const fields = readToolCall(update);
    if (fields !== null) call = mergeToolCall(call, fields);
  }
  return call;
}

describe("a tool call that is told in pieces", () => {
  test("keeps the last value that says something, and every block of content", () => {
    const call = told(
      { toolCallId: "t", title: "Terminal", kind: "execute", status: "pending", rawInput: {} },
      { toolCallId: "t", title: "ls", rawInput: { command: "ls" }, content: [1] },
      { toolCallId: "t", status: "completed", rawInput: {}, rawOutput: "a\nb", content: [2] },
    );
    expect(call).toMatchObject({
      title: "ls",
      kind: "execute",
      status: "completed",
      rawInput: { command: "ls" },
      rawOutput: "a\nb",
      content: [1, 2],
    });
  });

  test("keeps what a command printed where an agent tells it beside the protocol", () => {
    const call = told({ toolCallId: "t", ...printed("a") }, { toolCallId: "t", ...printed("b") });
    expect(call?.content).toEqual(
      ["a", "b"].map((text) => ({ type: "content", content: { type: "text", text } })),
    );
  });

  test("an odd field is left out, and the others stand", () => {
    const call = told({
      toolCallId: "t",
      title: 7,
      kind: "edit",
      status: "exploded",
      content: "x",
    });
    expect(call).toMatchObject({ title: "", kind: "edit", status: "pending", content: [] });
  });

  test("one without an id is no tool call", () => {
    expect(told({ title: "ls" })).toBeNull();
  });
});

function printed(data: string): object {
  return { _meta: { terminal_output_delta: { data } } };
}
