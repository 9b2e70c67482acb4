import CSandbox
import Foundation
import WorkbenchText

/// Confines the process of a command that only reads the files its arguments name.
///
/// If a defect lets a file from anyone run code, that code can read the folders of these files and
/// the system's, write to one temporary folder, and start neither a program nor a connection. The
/// kernel enforces it with Landlock and seccomp. Where the kernel has neither, or a container
/// forbids them, the command runs unconfined.
enum Sandbox {
  private static let reading = UInt64(csandbox_read_file | csandbox_read_folder)
  private static let writing =
    reading
    | UInt64(
      csandbox_write_file | csandbox_make_file | csandbox_make_folder
        | csandbox_remove_file | csandbox_remove_folder
        | csandbox_truncate)
  /// The system's folders: libraries, time zones, devices, and what the kernel reports.
  private static let system = ["/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/opt"]

  /// Confines the calling thread and all threads that it creates.
  ///
  /// Call this method before the process has other threads, and before it opens a database:
  /// temporary files then go to a new folder, which `TMPDIR` names.
  ///
  /// - Parameter paths: The files to read, or `-` for standard input. Everything in their folders
  ///   can be read.
  /// - Returns: Whether the process is confined.
  @discardableResult
  static func enter(reading paths: [String]) -> Bool {
    let version = csandbox_version()
    guard version > 0 else { return false }
    let rules = csandbox_make(version)
    guard rules >= 0 else { return false }
    defer { close(rules) }
    guard let temporary = try? ScratchFolders.make() else { return false }
    let known = csandbox_file_rights(version)
    for path in system + folders(of: paths) { allow(reading, below: path, rules) }
    allow(writing & known, below: temporary.path, rules)
    // The folder itself is removed at the end.
    allow(UInt64(csandbox_remove_folder), below: temporary.deletingLastPathComponent().path, rules)
    allow(UInt64(csandbox_write_file), below: "/dev/null", rules)
    guard csandbox_apply(rules) == 0 else {
      ScratchFolders.remove(temporary)
      return false
    }
    setenv("TMPDIR", temporary.path, 1)
    setenv("SQLITE_TMPDIR", temporary.path, 1)
    _ = csandbox_forbid_sockets()
    return true
  }

  /// Returns the folders of files, and of the files that links refer to.
  private static func folders(of paths: [String]) -> [String] {
    paths.filter { $0 != InputFile.standardInput }.flatMap { path -> [String] in
      let absolute = URL(fileURLWithPath: path).path
      var folders = [(absolute as NSString).deletingLastPathComponent]
      if let real = realpath(absolute, nil) {
        folders.append((String(cString: real) as NSString).deletingLastPathComponent)
        free(real)
      }
      return folders
    }
  }

  private static func allow(_ rights: UInt64, below path: String, _ rules: Int32) {
    let descriptor = open(path, Int32(csandbox_name_only) | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    _ = csandbox_allow(rules, descriptor, rights)
  }
}

/// A command that only reads the files that its arguments name.
protocol Confined: Executable {
  /// The files, or `nil` if the command writes files or reads others with these arguments.
  var inputs: [String]? { get }
}

extension Inspect: Confined {
  var inputs: [String]? { [store] }
}

extension Doctor: Confined {
  var inputs: [String]? { repair == nil ? [store] : nil }
}

extension Rows: Confined {
  var inputs: [String]? { [store] }
}

extension Model: Confined {
  var inputs: [String]? { [path] + [from].compactMap { $0 } }
}

extension Diff: Confined {
  var inputs: [String]? { [old, new] }
}

extension Predicate: Confined {
  var inputs: [String]? { [model, plan].compactMap { $0 } }
}

extension Compare: Confined {
  var inputs: [String]? { [before, after] }
}

extension Advise: Confined {
  /// A scenario names other files.
  var inputs: [String]? { isScenario ? nil : [file] }
}

extension Log: Confined {
  /// A budget can name a model.
  var inputs: [String]? {
    out == nil && report == nil && expect == nil ? [file, store, model].compactMap { $0 } : nil
  }
}
