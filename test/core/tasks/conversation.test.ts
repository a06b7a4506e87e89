import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TaskDocument } from "../../../core/model/task.ts";
import {
  Conversation,
  type PromptWishes,
  planConversation,
} from "../../../core/tasks/conversation.ts";
import { askedFact, readSimulatedUser } from "../../../core/tasks/simulated-user.ts";
import { readScenes } from "../../../core/tasks/scene-turns.ts";
import { aTask } from "../plan/plan-builders.ts";

type DocumentInput = Parameters<typeof TaskDocument.parse>[0];
const FACTS = { order_id: "BF-1042", delivery_window: "Tuesday morning" };

function aConversation(
  document: DocumentInput = {},
  wishes: Partial<PromptWishes> = {},
  promptPrefix: string | null = null,
) {
  const task = aTask("task", { prompt: "Do it.", document: TaskDocument.parse(document) });
  const config = { ...task.config, agent: { ...task.config.agent, promptPrefix } };
  const all = { prompts: [], extraInstructions: [], ...wishes };
  return new Conversation(planConversation({ ...task, config }, all));
}

function reasonsOf(document: DocumentInput): string {
  const reading = readSimulatedUser(TaskDocument.parse(document));
  return reading.kind === "refused" ? reading.reasons.join("; ") : reading.kind;
}

function sceneReasonOf(document: DocumentInput): string {
  const reading = readScenes(TaskDocument.parse(document), "base");
  return reading.kind === "refused" ? reading.reason : reading.kind;
}

/** All prompts, where the agent answers with these words. */
function promptsOf(conversation: Conversation, answers: readonly string[] = []): string[] {
  const prompts: string[] = [];
  for (let round = conversation.next(""); round !== null;) {
    prompts.push(round.prompt);
    round = conversation.next(answers[prompts.length - 1] ?? "");
  }
  return prompts;
}

describe("what is said to an agent", () => {
  test.for([
    ["nothing", {}, null, ["Do it."]],
    ["prompts", { prompts: ["First.", "Then."] }, null, ["First.", "Then."]],
    [
      "more",
      { extraInstructions: ["Be brief.", "Hurry."] },
      null,
      ["Do it.\n\nBe brief.\n\nHurry."],
    ],
    ["both", { prompts: ["A", "B"], extraInstructions: ["C"] }, null, ["A\n\nC", "B"]],
    ["a prefix", { prompts: ["A", "B"] }, "Policy.", ["Policy.\n\nA", "Policy.\n\nB"]],
  ] as const)("is the task's prompt where the run wishes %s", ([, wishes, prefix, expected]) => {
    const given = { prompts: [], extraInstructions: [], ...wishes };
    expect(promptsOf(aConversation({}, given, prefix))).toEqual(expected);
  });

  const user = { user: { private_facts: FACTS, stop_rule: "satisfied-or-3-rounds" } };

  test("by a scripted user is one fact for each question, until nothing is asked", () => {
    const answers = ["What is the order id?", "And which delivery window suits you?", "Thanks."];
    expect(promptsOf(aConversation(user), answers)).toEqual([
      "Do it.",
      "You asked about the order id. It is: BF-1042",
      "You asked about the delivery window. It is: Tuesday morning",
    ]);
    expect(promptsOf(aConversation(user), ["Done."])).toEqual(["Do it."]);
  });

  test("by a scripted user ends with its rounds, whatever is asked", () => {
    const two = { user: { ...user.user, stop_rule: "satisfied-or-2-rounds" } };
    const asking = Array.from({ length: 9 }, () => "Which order id? Which delivery window?");
    expect(promptsOf(aConversation(two), asking)).toHaveLength(2);
    expect(promptsOf(aConversation(user), asking)).toHaveLength(3);
  });

  test("by a scripted user is never more than its rounds, and no fact twice", () => {
    const words = fc.constantFrom("which", "order", "id?", "delivery", "window", "?", "done", "BF");
    const answer = fc.array(words, { maxLength: 8 }).map((each) => each.join(" "));
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 8 }), (answers) => {
        const prompts = promptsOf(aConversation(user), answers);
        expect(prompts.length).toBeLessThanOrEqual(3);
        expect(new Set(prompts).size).toBe(prompts.length);
      }),
    );
  });

  test("in scenes is each turn's own prompt, a new session for each scene, the user's words behind it", () => {
    const document = {
      ...user,
      scenes: [
        {
          name: "triage",
          turns: [
            { role: "solver", prompt: "Ask." },
            { role: "solver", prompt: "Note it." },
          ],
        },
        { name: "finish", turns: [{ role: "solver" }] },
      ],
      scenePrompts: { finish: "Finish it." },
      rolePrompts: { solver: "You solve." },
      benchflow: { prompt: { composition: "append" } },
    };
    const conversation = aConversation(document);
    const rounds = ["", "What is the order id?", "No question."].map((said) =>
      conversation.next(said),
    );
    expect(rounds).toMatchObject([
      { prompt: "Do it.\n\nYou solve.\n\nAsk.", opensSession: true, scene: "triage" },
      {
        prompt: "Do it.\n\nYou solve.\n\nNote it.\n\nYou asked about the order id. It is: BF-1042",
        opensSession: false,
        told: "order_id",
      },
      { prompt: "Do it.\n\nYou solve.\n\nFinish it.", opensSession: true, scene: "finish" },
    ]);
    expect(conversation.next("Which delivery window?")).toBeNull();
  });
});

describe("a question", () => {
  const facts = Object.entries(FACTS);

  test.for([
    ["Could you tell me the order id", "order_id"],
    ["I NEED the ORDER ID.", "order_id"],
    ["Is Tuesday fine?", "delivery_window"],
    ["The order id is missing.", null],
    ["Which colour?", null],
    ["", null],
  ] as const)("%j asks for %s", ([said, name]) => {
    expect(askedFact(said, facts)?.[0] ?? null).toBe(name);
  });
});

describe("a user that cannot be played as it is written is refused", () => {
  const sound = { private_facts: { a: "b" } };

  test.for([
    [
      { user: { ...sound, model: "claude-haiku" } },
      /user\.model is "claude-haiku": a user whom a model/u,
    ],
    [{ user: {} }, /private_facts is missing/u],
    [
      { user: { private_facts: { a: 1 } } },
      /private_facts\.a is no text of up to 4000 characters/u,
    ],
    [{ user: { ...sound, tools: ["ask"] } }, /user\.tools is not acted on/u],
    [{ user: { ...sound, stop_rule: "when-happy" } }, /only satisfied-or-N-rounds/u],
    [{ user: { ...sound, stop_rule: "satisfied-or-0-rounds" } }, /only satisfied-or-N-rounds/u],
    [{ user: sound, benchflow: { nudges: { nudge_budget: 0 } } }, /nudge_budget is 0/u],
    [
      { user: sound, benchflow: { nudges: { branchable: true } } },
      /nudges\.branchable is not acted on/u,
    ],
    [
      { user: sound, benchflow: { nudges: { confirmation_policy: "human" } } },
      /confirmation_policy/u,
    ],
    [{ user: sound, benchflow: { nudges: 3 } }, /nudges is no table/u],
    [{ benchflow: { nudges: { mode: "simulated-user" } } }, /private_facts is missing/u],
  ] as const)("%j", ([document, reason]) => {
    expect(reasonsOf(document)).toMatch(reason);
  });

  test("more than can be looked for in all that an agent says", () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, "x"]));
    expect(reasonsOf({ user: { private_facts: many } })).toBe(
      "user.private_facts are 101, more than 100",
    );
    expect(reasonsOf({ user: { private_facts: { a: "x".repeat(4000) } } })).toMatch(
      /no text of up/u,
    );
    expect(reasonsOf({ user: { private_facts: { a: "x".repeat(3999) } } })).toBe("scripted");
  });

  test.for([
    [{}, "none"],
    [{ userPersona: "Impatient." }, "none"],
    [{ user: { ...sound, model: "scripted" } }, "scripted"],
    [
      { user: { ...sound, model: "deterministic" }, benchflow: { nudges: { branchable: false } } },
      "scripted",
    ],
  ] as const)("and %j is not", ([document, kind]) => {
    expect(reasonsOf(document)).toBe(kind);
  });

  test.for([
    [{}, {}, 5],
    [{ stop_rule: "satisfied-or-7-rounds" }, {}, 7],
    [{ stop_rule: "satisfied-or-7-rounds" }, { nudge_budget: 2 }, 2],
    [{}, { nudge_budget: 9 }, 9],
  ] as const)("its rounds: %j and %j give %i", ([user, nudges, rounds]) => {
    const reading = readSimulatedUser(
      TaskDocument.parse({ user: { ...sound, ...user }, benchflow: { nudges } }),
    );
    expect(reading).toMatchObject({ user: { maxRounds: rounds } });
  });
});

describe("scenes that one agent cannot play are refused", () => {
  const turns = [{ role: "a", prompt: "Go." }];

  test.for([
    [{ scenes: [{ name: "s" }] }, /0\.turns/u],
    [{ scenes: [{ name: "s", turns: [] }] }, /0\.turns/u],
    [{ scenes: [{ name: "s", turns, skills_dir: "/x" }] }, /skills_dir/u],
    [{ scenes: [{ name: "s", turns: [...turns, { role: "b" }] }] }, /the roles a, b would need/u],
    [
      { scenes: [{ name: "s", turns }], agents: { roles: { a: { timeout_sec: 3 } } } },
      /agents\.roles\.a sets timeout_sec/u,
    ],
    [
      { scenes: [{ name: "s", turns }], benchflow: { prompt: { order: ["all"] } } },
      /benchflow\.prompt/u,
    ],
    [
      {
        scenes: [{ name: "s", turns: [{ role: "a" }] }],
        benchflow: { prompt: { order: ["turn"] } },
      },
      /a turn has no prompt/u,
    ],
  ] as const)("%j", ([document, reason]) => {
    expect(sceneReasonOf(document)).toMatch(reason);
  });

  test.for([
    [{}, "Go."],
    [{ composition: "append" }, "base\n\nGo."],
    [{ composition: "append", order: ["turn", "base"] }, "Go.\n\nbase"],
    [{ composition: "replace", order: ["base", "turn"] }, "base"],
  ] as const)("a turn's prompt under %j", ([prompt, expected]) => {
    const document = TaskDocument.parse({ scenes: [{ name: "s", turns }], benchflow: { prompt } });
    expect(readScenes(document, "base")).toMatchObject({ turns: [{ prompt: expected }] });
  });
});
