import Foundation
import SQLiteDriver
import WorkbenchText

/// The environment of a run: versions, machine, and build.
package struct RunEnvironment: Sendable, Equatable, Codable {
  package var cdprof: String
  package var sqlite: String
  package var swift: String
  /// A description of the operating system, the processor, and the number of cores.
  package var machine: String
  /// The build configuration, `release` or `debug`; times of a debug build aren't meaningful.
  package var build: String
  /// The number of scenarios that ran concurrently, at most; `nil` if this one ran alone.
  package var jobs: Int?

  package init(cdprof: String, sqlite: String, swift: String, machine: String, build: String) {
    self.cdprof = cdprof
    self.sqlite = sqlite
    self.swift = swift
    self.machine = machine
    self.build = build
  }
}

extension RunEnvironment {
  /// Whether other scenarios ran at the same time, which makes times longer.
  package var isConcurrent: Bool { (jobs ?? 1) > 1 }

  /// The environment of this process.
  package static var current: RunEnvironment {
    RunEnvironment(
      cdprof: ToolVersion.current, sqlite: SQLiteLibrary.version, swift: swiftVersion,
      machine: machine, build: build)
  }

  private static var machine: String {
    let process = ProcessInfo.processInfo
    let cores = NumberText.counted(process.activeProcessorCount, "core")
    return "\(process.operatingSystemVersionString), \(processor), \(cores)"
  }

  private static var processor: String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "another processor"
    #endif
  }

  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  private static var build: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }
}
