/**
 * One image from one build context. The context comes by a signed address, so that the project's role can
 * read nothing; its hash is checked before a byte of it is used. So does the place for the image's
 * configuration (its entry point, its user), which nobody in a container can see. Variables: CONTEXT_URL,
 * CONTEXT_SHA256, CONFIG_URL, IMAGE (repository:tag), REGISTRY.
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
        "docker image inspect --format '{{json .Config}}' \"$IMAGE\" > config.json",
        // Before the image itself: an image without its record is built again.
        'curl -sSf --retry 3 -X PUT -T config.json "$CONFIG_URL"',
        'docker push "$IMAGE"',
      ],
    },
  },
};
