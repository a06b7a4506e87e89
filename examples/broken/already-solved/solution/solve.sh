#!/bin/bash
set -euo pipefail

sed -i 's/^debug = true$/debug = false/' /app/settings.ini
