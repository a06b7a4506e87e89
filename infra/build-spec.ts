/**
 * One image from one build context. The context comes by a signed address, so that the project's role can
 * read nothing; its hash is checked before a byte of it is used. Variables: CONTEXT_URL, CONTEXT_SHA256,
 * IMAGE (repository:tag), REGISTRY.
 */
export const BUILD_SPEC = {
  version: "0.2",
  phases: {
    pre_build: {
      commands: [
        'curl -sSf --retry 3 -o context.tar "$CONTEXT_URL"',
        'echo "$CONTEXT_SHA256  context.tar" | sha256sum -c -',
        "mkdir context && tar -xf context.tar -C context",
      ],
    },
    build: { commands: ['docker build --platform linux/amd64 -t "$IMAGE" context'] },
    post_build: {
      commands: [
        'test "$CODEBUILD_BUILD_SUCCEEDING" = 1',
        'aws ecr get-login-password | docker login --username AWS --password-stdin "$REGISTRY"',
        'docker push "$IMAGE"',
      ],
    },
  },
};
