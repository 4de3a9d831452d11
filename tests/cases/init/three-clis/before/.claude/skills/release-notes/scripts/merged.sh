#!/bin/sh
git log --merges --format=%s "$1"..HEAD
