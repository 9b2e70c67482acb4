import Foundation

/// The tables of `Documentation/source-map.md`: the layers of each module's folders.
///
/// Each module with folders has a heading and a table. The rows of the table are layers, from top
/// to bottom; the first column lists the folders of a layer, and the last one the exceptions, as
/// `` `Folder/File` → `name` ``.
struct SourceMap {
  struct Layer {
    let folders: Set<String>
    let exceptions: [Exception]
  }

  /// A file that may refer to a declaration of a higher layer.
  struct Exception: Hashable {
    /// The path in the module's folder, without `.swift`.
    let file: String
    let name: String
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
      let exceptions = cells[2].matches(of: /`([\w+.\/]+)` → ((?:`\w+`(?:, )?)+)/).flatMap {
        match in
        match.2.matches(of: /`(\w+)`/).map {
          Exception(file: String(match.1), name: String($0.1))
        }
      }
      modules[module, default: []].append(Layer(folders: Set(folders), exceptions: exceptions))
    }
    self.modules = modules
  }
}
