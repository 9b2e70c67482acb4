import Foundation
import ManagedModel
import ModelCode

/// Writes the classes of a model to one file, for a build.
enum ModelCodeTool {
  /// Runs the tool to its end; errors go to standard error as a compiler writes them.
  ///
  /// - Parameter arguments: The model, and the file to write.
  /// - Returns: The exit status: 0, 1 when the file cannot be written, 64 for wrong arguments, 65 for a
  ///   model that is wrong, 66 for one that doesn't exist.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 2 else {
      complain("usage: ModelCodeTool MODEL FILE")
      return 64
    }
    let (model, output) = (URL(fileURLWithPath: arguments[0]), URL(fileURLWithPath: arguments[1]))
    guard FileManager.default.fileExists(atPath: model.path) else {
      complain("\(arguments[0]): error: there's no such model")
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
    FileHandle.standardError.write(Data((PrintableText.line(line) + "\n").utf8))
  }
}
