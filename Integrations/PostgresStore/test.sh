#!/bin/sh
# Starts a PostgreSQL server in a temporary folder, runs the tests against it, then stops and removes it.
#
#   test.sh [ARGUMENTS]    ARGUMENTS are those of swift test, such as --filter Predicate
set -eu
cd "$(dirname "$0")"
. ./temporary-server.sh

# In the repository's scratch folder, so that what its tests have compiled isn't compiled again.
POSTGRES_STORE_TEST_URL=$url POSTGRES_STORE_TEST_LOG=$folder/server.log \
  swift test --scratch-path ../../.build --disable-xctest --disable-build-manifest-caching \
  --explicit-target-dependency-import-check error "$@"
