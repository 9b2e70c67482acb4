import Foundation
import ManagedModel
import ModelCode

/// Generates the classes of a model in a single file, for a build.
///
/// The build plugin runs `ModelCodeTool MODEL FILE`.
@main
enum ModelCodeTool {
  static func main() {
    exit(run(Array(CommandLine.arguments.dropFirst())))
  }

  /// Runs the tool.
  ///
  /// Errors are printed on standard error in the format of a compiler.
  ///
  /// - Parameter arguments: The model, and the file to write.
  /// - Returns: The exit status: 0 on success, 1 if the file can't be written, 64 for invalid
  ///   arguments, 65 for an invalid model, or 66 for a model that doesn't exist.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 2 else {
      complain("usage: ModelCodeTool MODEL FILE")
      return 64
    }
    let (model, output) = (URL(fileURLWithPath: arguments[0]), URL(fileURLWithPath: arguments[1]))
    guard FileManager.default.fileExists(atPath: model.path) else {
      complain("\(arguments[0]): error: the model doesn't exist")
      return 66
    }
    do {
      let read = try NSManagedObjectModel.read(contentsOf: model)
      for warning in read.problems where warning.isWarning { complain(warning.description) }
      let generator = try ClassGenerator(read, file: model.lastPathComponent)
      let file = generator.singleFile(named: output.lastPathComponent)
      _ = try GeneratedFolder(output.deletingLastPathComponent()).write([file])
      return 0
    } catch let failure as ModelErrors {
      for error in failure.errors { complain(error.description) }
      return 65
    } catch {
      complain("\(arguments[1]): error: \(FileErrorText.of(error))")
      return 1
    }
  }

  private static func complain(_ line: String) {
    try? FileHandle.standardError.write(
      contentsOf: Data((PrintableText.line(line) + "\n").utf8))
  }
}
