import CStackFrames
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Call stacks of events: taken by frame pointers, named later.
package enum CallStack {
  private static let depth = 64
  private static let tables = Mutex<[String: SymbolTable]>([:])

  /// The return addresses of the calling thread, innermost first.
  ///
  /// Some 50 ns for 30 frames.
  package static func addresses() -> [UInt] {
    [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(cstackframes_walk(buffer.baseAddress, depth))
    }
  }

  /// The function that an address lies in and the file it was loaded from; nil where neither the
  /// linker nor the file's symbol table knows it.
  ///
  /// Reads a file's symbols at the first address inside it: for reports, not for the moment of the
  /// event.
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

  /// The file that an address was loaded from, and how far behind its beginning the address is.
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

/// The Swift runtime's own demangler; the result is the caller's to free.
@_silgen_name("swift_demangle")
private func demangle(
  _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
  _ bufferSize: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
