import Foundation

/// The tables of `Documentation/source-map.md`: the layers of each module's folders.
///
/// Each module with folders has a heading and a table. The rows of the table are layers, from top to
/// bottom; the first column lists the folders of a layer, and the last one the exceptions, as
/// `` `File` → `Type` ``.
struct SourceMap {
  struct Layer {
    let folders: Set<String>
    let exceptions: [Exception]
  }

  /// A file that may refer to a type of a higher layer.
  struct Exception: Hashable {
    let file: String
    let type: String
  }

  /// The layers of each module, from top to bottom.
  let modules: [String: [Layer]]

  init() throws {
    var modules: [String: [Layer]] = [:]
    var module = ""
    for line in try Repository.lines(of: "Documentation/source-map.md") {
      if line.hasPrefix("## ") { module = String(line.dropFirst(3)) }
      let cells = line.split(separator: "|").map(String.init)
      guard cells.count == 3, cells[0].contains("`") else { continue }
      let folders = cells[0].matches(of: /`(\w+)`/).map { String($0.1) }
      let exceptions = cells[2].matches(of: /`([\w+.]+)` → ((?:`\w+`(?:, )?)+)/).flatMap { match in
        match.2.matches(of: /`(\w+)`/).map {
          Exception(file: String(match.1), type: String($0.1))
        }
      }
      modules[module, default: []].append(Layer(folders: Set(folders), exceptions: exceptions))
    }
    self.modules = modules
  }
}

/// The folders of a module, and the references to types of other folders.
struct FolderReferences {
  struct Reference {
    let file: SourceFile
    let line: Int
    let from: String
    let type: String
    let to: String
  }

  let references: [Reference]
  let folders: Set<String>

  init(module: String) {
    let declaration =
      /^(?:(?:public|package|internal|open|final|indirect|@\w+(?:\([^)]*\))?)\s+)*(?:class|struct|enum|protocol|typealias|actor)\s+(\w+)/
    let name = /(^|[^\w.]|\.)([A-Z]\w*)/
    let files = Repository.sources.filter { $0.module == module }
    var declared: [String: String] = [:]
    for file in files {
      for line in file.code {
        guard let match = try? declaration.firstMatch(in: line) else { continue }
        declared[String(match.1)] = Self.folder(of: file)
      }
    }
    references = files.flatMap { file in
      let from = Self.folder(of: file)
      return file.code.enumerated().flatMap { index, line in
        line.matches(of: name).compactMap { match -> Reference? in
          let type = String(match.2)
          guard match.1 != ".", let to = declared[type], to != from else { return nil }
          return Reference(file: file, line: index, from: from, type: type, to: to)
        }
      }
    }
    folders = Set(files.map(Self.folder)).subtracting([Self.root])
  }

  /// The folder name of files directly in the module's folder.
  static let root = ""

  private static func folder(of file: SourceFile) -> String {
    let parts = file.path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : root
  }
}
