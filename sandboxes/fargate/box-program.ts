import { inflateSync } from "node:zlib";

/** box.c, compiled by the command in its head for linux/amd64, the one platform of our tasks; deflated, as base64. */
const BOX = [
  "eNqtVl1MHFUUvgMMbIF2thWF1h82ZrVtjEsHfYAWmp2ya++Y6V/6Z5oYwl91WwqGvaRWY7u4uwnDhiYm+mJifPDJGF",
  "9xS2F2ytbFGuPPmthq1bYJDYOD0GDaglXGc+/sbIGY1Advdu6d79x7zrn3fOfM3TNB5YUCjkNOK0DbEUUG8jPsz8lf",
  "K8kvAVkdKoS+GPFsLY+WNv+y8fGcnjMitz1QvWJ4PDm5p9K/bMw39/Jx303SXoz+e3PUsTqJoxO3jBQ4FvWBiuJYlq",
  "weKC/Bll73HZkV9XSSbimN2yzpXAO8idkg/emK+gVWfxB4c0Y6LKsLWJ2TDkkHpQMH9+/FiWpRpwbB+o/+AdEfu0PK",
  "/ZHFGiEwjq0L5nRcJ7W2leQ2tuqaon4t8Dg6v0iE1Gkqis5PC/G78JY6A93U79DJ6rej7xX7kZyow3GLeDSuxA+6FV",
  "6jybIsnKjwgt0iPNjNy1HdZV6RRqlqikZO0qgfiZmObENC7H3EjqvwYPVi7BKpiixsJQ/hxmQZQuQxOHx/fzXomb/g",
  "uN5bnuHLH0bIxyKRiVCDNVj9FQ9iDm/ODATWWDGdVOC+BUsA7TI4Yn8f057I9DHenIjdun9MFz1hUAjOyty0FGnwIl",
  "IqD3Z6uamX4SwBddZILFqWcQw62ACXFvVIQwkiPOzMvC1mIw2PMDBm3sb1Y8K7ujCkp5344+i0W0mUyNH5AuFsqpAG",
  "buHFwc5xN06ccWtZiKDxkUXtCrG3OTr7m6wacmIDjl8lYe1yMQ3qNWP2b+Z6j/YzVbhhI0m7QdH3NnpOu0nR5zZ6Sj",
  "Mp+sxGldo9ij620SpZrWKkrIboE1emEGErbf4hR8dcZlzUpZEPEItSqorxjLTVDEPIrmP1J4HXHgUMQODFS7J6UxpZ",
  "Q+nUCljyKF4XTCnqXUWdweNFXuTnkDTsgjmBB5vJejvFgDGIvZoGRkmldC4C0tFG6i76lSVplFrzSTxIvC7bL9izjb",
  "ANyIOnqqbeoTWStaV2BSjqLCsCIFOQhmk9SUnak0rxDlYNRZ1U1DmYjuunM7g+bV5NbmfJ/Y2lrWK1NLW+gO5gvkg4",
  "uw2sayWQ0ga/aLOzmbKT2FcVFCcGCqLGloZVJ927jk+UYkHTgXuZu2hOOuWYbKa5vo7tFzaUJOztMj1xhubwxuQxFs",
  "JJzDZkC9clQ2zZXD4wpam3aLmdBc+74hOkOmec0pN6GjqNcyJC9bNiVk6c8uQW7XWcY3WM2qqNnC+D47BETZtz9iqN",
  "ilgh0cy0TdklvgGEkWG3ozHmaLB1mttRgxTIYnWeOQJWNmF1xnjjnmVpFTR0X/5FQ0fa5eiFqvNxSvHQWiBl5AilZn",
  "SIBbQevh5C7BPk1CW1dwXM5Ddeyr5dUypiq53ihYyYsY99Hay7zCFtPfX4ku3xCCVKtPI84eOWwxPmxs1J5vNDIDZP",
  "WGh5uIR4H8wuzw84q2XyKZrmxpt/WlZNb7inprO7raWzJtwa6tq6BOfh/Qn2YkPoUKgrRJB0eH8zCjZBpwSa0e49gW",
  "Az2qnIO5qaDxzcLe1Qgvsb0c6mPbsPNe+VDuBG1NPbhdpOtpeiV7pL0dHQ0W7U0dUOK5q2ejYFOlpDLV0esdZX69vy",
  "rPj8M+0drWJtr7g5J4IvZvjVMOkhLa3IRzpeJ8jX093eQlqQrzUcRr627hMnOroI+l9a2ZK7Ey25p40c/nT5ZYy4Ff",
  "prc7LaHKYXjT3auB/9u74zroeHfhcK0Yp7e8X97jTPCntP5GxtWSF3/h9sfIB/bonvpS3wAH2n/QPgqpkh",
];

/** The static program that starts a task's container and each of its commands. */
export function boxProgram(): Uint8Array {
  return inflateSync(Buffer.from(BOX.join(""), "base64"));
}
