import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ImageWorkshop } from "./image-workshop.ts";
import { run } from "./open-local.ts";

let shop: ImageWorkshop;

beforeAll(async () => {
  shop = await ImageWorkshop.open();
});

afterAll(async () => {
  await shop.close();
});

describe("a replayed Dockerfile", () => {
  test("carries ENV, ARG, WORKDIR, USER, SHELL and LABEL as Docker does", async () => {
    const image = await shop.build(
      [
        "ARG GREETING=hello",
        "FROM debian:bookworm",
        "ARG GREETING",
        'ENV A=1 B="two words" C=$GREETING',
        "ENV A=2 D=$A",
        "WORKDIR /srv",
        "WORKDIR app",
        'RUN echo $GREETING $A $D "$B" $PWD $HOME > /seen',
        'SHELL ["/bin/bash", "-c"]',
        "RUN [[ -n $BASH_VERSION ]] && echo bash >> /seen",
        'RUN ["/bin/sh", "-c", "echo exec $0 >> /seen", "form"]',
        "LABEL one=two",
        "RUN useradd --create-home --uid 4321 worker",
        "USER worker",
        "RUN id -un >> /tmp/who; echo $HOME >> /tmp/who",
        'CMD ["ignored"]',
      ].join("\n"),
    );
    expect(image).toMatchObject({
      workdir: "/srv/app",
      user: "worker",
      env: { A: "2", B: "two words", C: "hello", D: "1" },
      builtHere: true,
    });
    expect(image.digest).toMatch(/^sha256:[0-9a-f]{64}$/u);
    expect(await shop.seen(image, "cat /seen /tmp/who; stat -c %u:%g /tmp/who /srv/app")).toBe(
      "hello 2 1 two words /srv/app /root\nbash\nexec form\nworker\n/home/worker\n4321:4321\n0:0",
    );
  });

  test("of a python image has python by both its names, whatever Debian calls it", async () => {
    const image = await shop.build("FROM python:3.12-slim\nRUN python -c 'print(1)' >/seen\n");
    expect(await shop.seen(image, "cat /seen; python -c 'print(2)'; python3 -c 'print(3)'")).toBe(
      "1\n2\n3",
    );
    const plain = await shop.build("FROM debian:bookworm\n");
    const names = "ls /usr/local/bin/python 2>/dev/null || echo none";
    expect(await shop.seen(plain, names)).toBe("none");
  });

  test("keeps what RUN makes, changes and removes, in the system's folders too", async () => {
    const image = await shop.build(
      [
        "FROM debian:bookworm",
        "RUN printf 'made' > /usr/local/bin/made && chown 7:8 /usr/local/bin/made && chmod 4711 /usr/local/bin/made",
        "RUN rm -rf /usr/share/doc && mkdir /usr/share/doc && echo new > /usr/share/doc/only",
        "RUN rm /usr/bin/yes && mv /usr/bin/seq /usr/bin/sequence && ln -s sequence /usr/bin/seq",
        "RUN mkdir -p /data/empty && ln /usr/local/bin/made /usr/local/bin/twin && touch /data/$(printf 'x\\377')",
      ].join("\n"),
    );
    expect(
      await shop.seen(
        image,
        "stat -c '%a %u %g %h' /usr/local/bin/made; ls /usr/share/doc; ls /usr/bin/yes 2>&1; seq 1; ls -d /data/empty; ls /data | od -An -c | head -1",
      ),
    ).toMatch(
      /^4711 7 8 2\nonly\nls: cannot access '\/usr\/bin\/yes'.*\n1\n\/data\/empty\n.*x 377/su,
    );
    // What one sandbox does is not in the next.
    await shop.seen(image, "rm /usr/local/bin/made; echo changed > /usr/share/doc/only");
    expect(
      await shop.seen(image, "ls /usr/local/bin | grep -E 'made|twin'; cat /usr/share/doc/only"),
    ).toBe("made\ntwin\nnew");
  });

  test("runs scripts written in place, with the shell or an interpreter of their own", async () => {
    const image = await shop.build(
      "FROM debian:12\nRUN <<EOF\nset -e\necho 'a \\\\ b' > /one\nEOF\nRUN <<'X'\n#!/usr/bin/perl\nopen(my $f, '>', '/two'); print $f 'perl';\nX\nRUN cat <<IN > /three\nvalue\nIN\n",
    );
    expect(
      await shop.seen(image, "cat /one /two; echo; cat /three; ls /.bench*  2>/dev/null | wc -l"),
    ).toBe("a \\ b\nperl\nvalue\n0");
  });

  test("copies files, folders and patterns to where Docker puts them", async () => {
    const request = shop.requestFor(
      [
        "FROM ubuntu:24.04",
        "WORKDIR /app",
        "COPY . .",
        "COPY one.txt /renamed.txt",
        "COPY one.txt /made/on/the/way/",
        "COPY one.txt two.txt /both/",
        "COPY *.txt /patterns/",
        "RUN mkdir /there",
        "COPY one.txt /there",
        "COPY sub /sub-content",
        "COPY tool.sh /bin/",
        "COPY --chown=daemon:4242 --chmod=750 one.txt /owned",
        "COPY --exclude=*.md sub /without-md/",
        "COPY <<FILE <<'RAW' /inline/\nhome is $HOMELESS\nFILE\nkept $AS_IS\nRAW",
        'COPY ["with blank", "/blank/"]',
      ].join("\n"),
      {
        ".dockerignore": "ignored\n*.secret\n",
        "one.txt": "1",
        "two.txt": "2",
        "sub/deep/file": "deep",
        "sub/read.md": "md",
        "tool.sh": "#!/bin/sh\necho tool\n",
        ignored: "x",
        "key.secret": "x",
        "with blank": "b",
      },
    );
    symlinkSync("/etc/shadow", join(request.contextDir, "sub/link"));
    execFileSync("chmod", ["755", join(request.contextDir, "tool.sh")]);
    const image = await shop.local.backend.prepare(request);
    const sandbox = await shop.local.create(image);
    const read = async (script: string): Promise<string> => (await run(sandbox, script)).out;
    expect(await read("cd /app && find . -mindepth 1 | sort | tr '\\n' ' '")).toBe(
      "./.dockerignore ./Dockerfile ./one.txt ./sub ./sub/deep ./sub/deep/file ./sub/link ./sub/read.md ./tool.sh ./two.txt ./with blank",
    );
    expect(
      await read("cat /renamed.txt /made/on/the/way/one.txt /both/* /patterns/* /there/one.txt"),
    ).toBe("1112121");
    expect(await read("ls /sub-content; readlink /sub-content/link; tool.sh")).toBe(
      "deep\nlink\nread.md\n/etc/shadow\ntool",
    );
    expect(
      await read("stat -c '%a %U %g' /owned; ls /without-md; stat -c '%a %u' /app/tool.sh"),
    ).toBe("750 daemon 4242\ndeep\nlink\n755 0");
    expect(await read("cat /inline/FILE /inline/RAW; cat '/blank/with blank'")).toBe(
      "home is \nkept $AS_IS\nb",
    );
  });

  test("unpacks archives that are added, inside the image, and no others", async () => {
    const request = shop.requestFor(
      "FROM debian\nADD a.tar.gz plain.gz.txt /added/\nADD --unpack=false b.tar /kept/\n",
      {
        "plain.gz.txt": "no archive",
        "pack/in/file": "packed",
      },
    );
    const { contextDir } = request;
    execFileSync("tar", [
      "-C",
      join(contextDir, "pack"),
      "-czf",
      join(contextDir, "a.tar.gz"),
      "in",
    ]);
    execFileSync("tar", ["-C", join(contextDir, "pack"), "-cf", join(contextDir, "b.tar"), "in"]);
    const image = await shop.local.backend.prepare(request);
    expect(
      await shop.seen(
        image,
        "cat /added/in/file /added/plain.gz.txt; ls /added /kept; ls -A / | grep bench || true",
      ),
    ).toBe("packedno archive/added:\nin\nplain.gz.txt\n\n/kept:\nb.tar");
  });

  test("gives cache mounts for the step's time only", async () => {
    const image = await shop.build(
      "FROM debian\nRUN --mount=type=cache,target=/root/.cache/x echo kept > /root/.cache/x/file && cp /root/.cache/x/file /out\n",
    );
    expect(await shop.seen(image, "cat /out; ls /root/.cache/x 2>/dev/null | wc -l")).toBe(
      "kept\n0",
    );
  });

  test("finds packages that this machine has as installed, with no network", async () => {
    const image = await shop.build(
      "FROM debian:bookworm-slim\nRUN apt-get update && apt-get install -y --no-install-recommends coreutils && rm -rf /var/lib/apt/lists/*\n",
    );
    expect(image.builtHere).toBe(true);
  });

  test("is noted in the isolation of what runs on it", async () => {
    const sandbox = await shop.local.create(await shop.build("FROM ubuntu:24.04\n"));
    expect(sandbox.isolation.image).toBe("host");
    expect(sandbox.isolation.notes[0]).toMatch(/^FROM ubuntu:24.04 stands for this machine's /u);
  });

  test("a prebuilt image is this machine too, when its family is", async () => {
    const request = shop.requestFor("unused");
    const image = await shop.local.backend.prepare({
      ...request,
      source: { kind: "prebuilt", reference: "debian:12" },
    });
    expect(image).toMatchObject({ workdir: "/", user: "root", env: {} });
    const alpine = shop.local.backend.prepare({
      ...request,
      source: { kind: "prebuilt", reference: "alpine" },
    });
    await expect(alpine).rejects.toThrow(/FROM alpine is not known to be/u);
  });
});
