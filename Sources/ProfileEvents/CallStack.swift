import CStackFrames
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The call stacks of events, captured with frame pointers and symbolicated later.
package enum CallStack {
  private static let depth = 64
  private static let tables = Mutex<[String: SymbolTable]>([:])

  /// Returns the return addresses of the calling thread, innermost first.
  ///
  /// **Cost:** about 50 ns for 30 frames.
  package static func addresses() -> [UInt] {
    [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(cstackframes_walk(buffer.baseAddress, depth))
    }
  }

  /// Returns the function that contains an address and the file it was loaded from, or `nil` if
  /// neither the dynamic linker nor the file's symbol table contains it.
  ///
  /// The first lookup in a file reads its symbols, so use this method for reports, not while
  /// recording events.
  package static func symbol(at address: UInt) -> (function: String, image: String)? {
    var found = cstackframes_symbol()
    guard cstackframes_find(address, &found) != 0, let file = found.file else { return nil }
    let path = String(cString: file)
    if let name = found.symbol { return (demangled(String(cString: name)), path) }
    let offset = UInt64(address - UInt(bitPattern: found.base))
    let name = tables.withLock { tables in
      if tables[path] == nil { tables[path] = SymbolTable(path: path) }
      return tables[path]?.name(at: offset)
    }
    return name.map { (demangled($0), path) }
  }

  /// Returns the file that an address was loaded from, and the offset of the address from the start
  /// of the image.
  package static func image(of address: UInt) -> (file: String, offset: UInt)? {
    var found = cstackframes_symbol()
    guard cstackframes_find(address, &found) != 0, let file = found.file else { return nil }
    return (String(cString: file), address - UInt(bitPattern: found.base))
  }

  private static func demangled(_ name: String) -> String {
    guard name.hasPrefix("$s"), let text = demangle(name, name.utf8.count, nil, nil, 0) else {
      return name
    }
    defer { free(text) }
    return String(cString: text)
  }
}

/// Returns a demangled name; the caller frees it.
///
/// The function of the Swift runtime.
@_silgen_name("swift_demangle")
private func demangle(
  _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
  _ bufferSize: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// The source location that caused an event: a scenario's step, a line in the shell, or a call.
package struct CallSite: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The file: `Scenarios/faults.yml`, `shell`, or a `#fileID`.
  package var file: String
  /// The line, starting at 1.
  package var line: Int

  package init(file: String, line: Int) {
    self.file = file
    self.line = line
  }

  /// The last path component and the line, such as `faults.yml:16`.
  package var description: String {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    return "\(name):\(line)"
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The functions of a 64-bit ELF file, from its full symbol table.
///
/// The dynamic linker knows only exported symbols, and a program exports none of its own functions.
/// An invalid file results in an empty table.
///
/// **Cost:** reading is proportional to the size of the table; a lookup is a binary search.
struct SymbolTable {
  private struct Function {
    let address: UInt64
    let size: UInt64
    let name: Int
  }

  private var functions: [Function] = []
  private var names: [UInt8] = []

  /// Reads the symbol table of a file.
  init(path: String) {
    guard let bytes = SymbolTable.contents(path) else { return }
    bytes.withUnsafeBytes { read($0) }
  }

  /// Returns the mangled name of the function at an address, relative to the start of the image.
  func name(at offset: UInt64) -> String? {
    var (low, high) = (0, functions.count)
    while low < high {
      let middle = (low + high) / 2
      if functions[middle].address <= offset { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let function = functions[low - 1]
    guard offset < function.address + max(function.size, 1) else { return nil }
    let end = names[function.name...].firstIndex(of: 0) ?? names.endIndex
    return String(decoding: names[function.name..<end], as: UTF8.self)
  }

  private mutating func read(_ file: UnsafeRawBufferPointer) {
    guard file.count >= 64, file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
      let table = SymbolTable.number(file, at: 40, as: UInt64.self).flatMap({ Int(exactly: $0) }),
      let entrySize = SymbolTable.number(file, at: 58, as: UInt16.self),
      let count = SymbolTable.number(file, at: 60, as: UInt16.self)
    else { return }
    for index in 0..<Int(count) {
      let header = table + index * Int(entrySize)
      // Type 2 is the full symbol table.
      guard SymbolTable.number(file, at: header + 4, as: UInt32.self) == 2,
        let symbols = SymbolTable.section(file, header),
        let link = SymbolTable.number(file, at: header + 40, as: UInt32.self),
        let texts = SymbolTable.section(file, table + Int(link) * Int(entrySize))
      else { continue }
      names = Array(file[texts])
      for symbol in stride(from: symbols.lowerBound, to: symbols.upperBound - 23, by: 24) {
        add(file, symbol)
      }
    }
    // Of several symbols with the same address, the largest one is last and is found.
    functions.sort { ($0.address, $0.size) < ($1.address, $1.size) }
  }

  private mutating func add(_ file: UnsafeRawBufferPointer, _ symbol: Int) {
    guard let name = SymbolTable.number(file, at: symbol, as: UInt32.self),
      let info = SymbolTable.number(file, at: symbol + 4, as: UInt8.self), info & 15 == 2,
      let address = SymbolTable.number(file, at: symbol + 8, as: UInt64.self), address != 0,
      let size = SymbolTable.number(file, at: symbol + 16, as: UInt64.self),
      Int(name) < names.count, size < 1 << 32, address < 1 << 48
    else { return }
    functions.append(Function(address: address, size: size, name: Int(name)))
  }

  private static func section(_ file: UnsafeRawBufferPointer, _ header: Int) -> Range<Int>? {
    guard let offset = number(file, at: header + 24, as: UInt64.self).flatMap({ Int(exactly: $0) }),
      let size = number(file, at: header + 32, as: UInt64.self).flatMap({ Int(exactly: $0) }),
      size >= 24, offset <= file.count, size <= file.count - offset
    else { return nil }
    return offset..<offset + size
  }

  private static func number<T: FixedWidthInteger>(
    _ file: UnsafeRawBufferPointer, at offset: Int, as type: T.Type
  ) -> T? {
    guard offset >= 0, offset <= file.count - MemoryLayout<T>.size else { return nil }
    return T(littleEndian: file.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  private static func contents(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    guard fseek(file, 0, SEEK_END) == 0 else { return nil }
    let size = ftell(file)
    guard size > 0, size < 1 << 31, fseek(file, 0, SEEK_SET) == 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = fread(buffer.baseAddress, 1, size, file)
    }
  }
}
