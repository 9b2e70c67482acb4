/// What a run depended on besides its scenario.
package struct RunEnvironment: Sendable, Equatable {
  package var cdprof: String
  package var sqlite: String
  package var swift: String
  /// Operating system, processor and number of cores, in words.
  package var machine: String
  /// `release` or `debug`; times of a debug build mean nothing.
  package var build: String

  package init(cdprof: String, sqlite: String, swift: String, machine: String, build: String) {
    self.cdprof = cdprof
    self.sqlite = sqlite
    self.swift = swift
    self.machine = machine
    self.build = build
  }
}
