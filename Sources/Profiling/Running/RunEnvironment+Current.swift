import Foundation
import SQLiteDriver
import WorkbenchText

extension RunEnvironment {
  /// This process on this machine.
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
