export const PLACEHOLDER = "***REDACTED***";

/**
 * Keys and tokens by their shapes (spec 12.2). Each part has one way to match and every repetition
 * before a required part is capped, so that work stays linear on any text.
 */
const KEYS = new RegExp(
  [
    String.raw`sk-(?:ant|benchflow|svcacct|or-v1)-[\w-]{12,}`,
    String.raw`sk-(?:proj|admin)-(?=[\w-]{0,64}[A-Z])[\w-]{12,}`,
    String.raw`sk-[A-Za-z0-9]{12,}`,
    String.raw`AIzaSy[\w-]{20,}`,
    String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])`,
    String.raw`dtn_[\w-]{16,}`,
    String.raw`gh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`github_pat_\w{20,}`,
    String.raw`xox[baprs]-[\w-]{10,}`,
    String.raw`(?:gsk|r8|hf|fw)_[A-Za-z0-9]{20,}`,
    String.raw`xai-[A-Za-z0-9]{20,}`,
    String.raw`eyJ[\w-]{5,4096}\.[\w-]{2,16384}\.[\w-]{20,}`,
  ]
    .map((part) => String.raw`(?<![\w-])${part}`)
    .join("|"),
  "gu",
);

const QUOTE = String.raw`(?:\\{0,8}["'])?`;
const VALUE = String.raw`[^\s"'\\,}&*]{8,}`;
const HEADER_NAMES = "x-api-key|x-goog-api-key|api[-_]key|(?:proxy-)?authorization";
const SECRET_ENDS =
  "TOKEN|SECRET|PASSWORD|PASSWD|ACCESS_KEY|SECRET_KEY|ACCOUNT_KEY|PRIVATE_KEY|ENCRYPTION_KEY|API_KEY|CREDENTIALS?";

/** `x-api-key: value` and the like; the name stays. */
const HEADERS = new RegExp(
  String.raw`(?<![\w-])((?:${HEADER_NAMES})${QUOTE}\s{0,8}[:=]\s{0,8}${QUOTE}(?:(?:Bearer|Basic)\s{1,8})?)${VALUE}`,
  "giu",
);

/** `NAME_TOKEN=value` as environments write it. */
const VARIABLES = new RegExp(
  String.raw`(?<![A-Z0-9_])([A-Z0-9_]{0,64}(?:${SECRET_ENDS})${QUOTE}\s{0,8}[:=]\s{0,8}${QUOTE})${VALUE}`,
  "gu",
);

const URL_PASSWORDS =
  /\b((?:https?|ftps?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?):\/\/[^\s/@:]{1,256}:)[^\s/@*]{1,256}(?=@)/giu;

const URL_PARAMETERS =
  /([?&](?:api_key|access_key|access_token|refresh_token|session_token|session_id|client_secret|account_key|secret|password|passwd|signature|x-amz-[a-z-]{1,32}|sas|key)=)[^&\s"'#*]{6,}/giu;

const URL_SIGNATURES = /([?&]sig=)[^&\s"'#*]{16,}/giu;

interface Shape {
  /** Texts without any of these hold no such secret: a plain search is ten times as fast. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  readonly replacement: string;
}

const AFTER_NAME = `$1${PLACEHOLDER}`;
const KEY_HINTS =
  "sk- AIzaSy AKIA ASIA dtn_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xox gsk_ r8_ hf_ fw_ xai- eyJ".split(
    " ",
  );
const VARIABLE_HINTS = ["TOKEN", "SECRET", "PASSW", "_KEY", "CREDENTIAL"];

const SHAPES: readonly Shape[] = [
  { hints: KEY_HINTS, pattern: KEYS, replacement: PLACEHOLDER },
  {
    hints: ["api", "Api", "API", "uthorization", "UTHORIZATION"],
    pattern: HEADERS,
    replacement: AFTER_NAME,
  },
  { hints: VARIABLE_HINTS, pattern: VARIABLES, replacement: AFTER_NAME },
  { hints: ["://"], pattern: URL_PASSWORDS, replacement: AFTER_NAME },
  { hints: ["?", "&"], pattern: URL_PARAMETERS, replacement: AFTER_NAME },
  { hints: ["sig=", "Sig=", "SIG="], pattern: URL_SIGNATURES, replacement: AFTER_NAME },
];

export function withoutShapes(text: string): string {
  let result = withoutPrivateKeys(text);
  for (const { hints, pattern, replacement } of SHAPES)
    if (hints.some((hint) => result.includes(hint)))
      result = result.replaceAll(pattern, replacement);
  return result;
}

/** Names of fields whose whole value is a secret. */
const SECRET_FIELD = new RegExp(String.raw`^(?:${HEADER_NAMES})$|(?:^|_)(?:${SECRET_ENDS})$`, "iu");

export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name);
}

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY-----/gu;
const PEM_END = "PRIVATE KEY-----";
const MAX_PEM_LENGTH = 8192;

/** By hand, since a pattern over a block of unknown length would search it again from every start. */
function withoutPrivateKeys(text: string): string {
  if (!text.includes(PEM_END)) return text;
  let result = "";
  let copied = 0;
  PEM_BEGIN.lastIndex = 0;
  for (let begin = PEM_BEGIN.exec(text); begin !== null; begin = PEM_BEGIN.exec(text)) {
    const bodyStart = PEM_BEGIN.lastIndex;
    const end = text.indexOf(PEM_END, bodyStart);
    if (end === -1) break;
    if (end - bodyStart > MAX_PEM_LENGTH) continue;
    result += text.slice(copied, begin.index) + PLACEHOLDER;
    copied = end + PEM_END.length;
    PEM_BEGIN.lastIndex = copied;
  }
  return result + text.slice(copied);
}
