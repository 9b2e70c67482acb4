import Foundation
import Testing

@Suite("Imports of modules and references between folders")
struct LayeringTests {
  private let table: ModuleTable
  private let map: SourceMap

  init() throws {
    table = try ModuleTable()
    map = try SourceMap()
  }

  @Test func everyImportIsInTheTable() {
    #expect(Repository.sources.count > 20)
    for file in Repository.sources {
      guard let allowed = table.imports(of: file.module) else {
        Issue.record("\(file.path): the module table has no \(file.module)")
        continue
      }
      for (module, location) in file.imports where !ModuleTable.system.contains(module) {
        #expect(allowed.contains(module), "\(location): \(file.module) can't import \(module)")
      }
    }
  }

  @Test func dependenciesPointDownOnly() throws {
    let order = table.rows.map(\.module)
    #expect(order.count > 8)
    for (index, row) in table.rows.enumerated() {
      for module in row.imports {
        guard let target = order.firstIndex(of: module) else { continue }
        #expect(target > index, "\(row.module) is below \(module) in the table but imports it")
      }
    }
  }

  /// The row of the C module names the modules with the files that are compiled into the program.
  @Test func modulesOfEmbeddedFilesAreInTheTable() throws {
    let row = try #require(table.rows.first { $0.module == "CEmbeddedFiles" })
    let text = try Repository.text(of: "Sources/CEmbeddedFiles/CEmbeddedFiles.c")
    let modules = Set(text.matches(of: /#embed "\.\.\/(\w+)\//).map { String($0.1) })
    #expect(!modules.isEmpty)
    #expect(Set(ModuleTable.words(of: row.contents)) == modules)
  }

  @Test func packageDependenciesMatchTheModuleTable() throws {
    let declared = try ModuleTable.declared()
    #expect(Set(declared.keys) == Set(table.rows.map(\.module)))
    for row in table.rows {
      #expect(declared[row.module] == row.imports, "\(row.module) in Package.swift")
    }
  }

  @Test func everyModuleIsInTheModuleTable() throws {
    let folders = Set(
      Repository.files(below: "Sources").compactMap { path in
        path.split(separator: "/").dropFirst().first.map(String.init)
      }
    ).filter { !$0.contains(".") }
    #expect(folders == Set(table.rows.map(\.module)))
  }

  @Test func foldersReferenceOnlyTheirLayerAndBelow() {
    for (module, layers) in map.modules {
      let exceptions = Set(layers.flatMap(\.exceptions))
      var used: Set<SourceMap.Exception> = []
      for reference in FolderReferences.ofModules[module]?.references ?? [] {
        // Files directly in the module's folder are above all layers.
        let from = layers.firstIndex { $0.folders.contains(reference.from) } ?? -1
        let to = layers.firstIndex { $0.folders.contains(reference.to) } ?? -1
        guard from > to else { continue }
        let exception = SourceMap.Exception(file: reference.path, name: reference.name)
        used.insert(exception)
        #expect(
          exceptions.contains(exception),
          "\(reference.file.location(reference.line)): \(reference.from) can't refer to \(reference.name)"
        )
      }
      for exception in exceptions.subtracting(used) {
        Issue.record("\(module): \(exception.file) → \(exception.name) is no longer needed")
      }
    }
  }

  @Test func everyFolderIsInTheSourceMap() {
    #expect(map.modules.count > 5)
    for row in table.rows {
      let listed = (map.modules[row.module] ?? []).flatMap(\.folders)
      #expect(Set(listed).count == listed.count, "\(row.module) lists a folder twice")
      #expect(
        Set(listed) == FolderReferences.ofModules[row.module]?.folders ?? [], "\(row.module)")
    }
  }

  @Test func onlyTheDriverCallsSQLite() {
    for file in Repository.sources where file.module != "SQLiteDriver" {
      for (index, line) in file.code.enumerated() where line.contains("sqlite3_") {
        Issue.record("\(file.location(index)): only SQLiteDriver calls sqlite3_ functions")
      }
    }
  }

  @Test func foundationIsNotImportedWhereNamesWouldBeAmbiguous() {
    let ambiguousNames =
      /\b(NSPredicate|NSComparisonPredicate|NSCompoundPredicate|NSExpression|NSSortDescriptor|ValueTransformer|UndoManager)\b/
      .wordBoundaryKind(.simple)
    for file in Repository.sources where file.module != "ManagedModel" {
      guard let location = file.imports.first(where: { $0.module == "Foundation" })?.location
      else {
        continue
      }
      for line in file.code {
        guard let name = try? ambiguousNames.firstMatch(in: line) else { continue }
        Issue.record(
          "\(location): \(name.1) is ambiguous with Foundation; import OpenCoreData instead")
      }
    }
  }

  @Test func onlyAPIModulesHavePublicDeclarations() {
    var count = 0
    for file in Repository.sources where !ModuleTable.withPublicAPI.contains(file.module) {
      for declaration in DeclarationScanner(file: file).declarations {
        count += 1
        if declaration.access == "package" { continue }
        Issue.record(
          "\(file.location(declaration.line)): \(file.module) has no public API; use package")
      }
    }
    #expect(count > 1_000)
  }
}
