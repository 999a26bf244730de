private import CExpat
import CLibraryNames
import Glibc

/// Receiver of the parts of an XML document while `XMLReader` reads it.
protocol XMLHandler: AnyObject {
    /// An element begins. `name` has no prefix.
    func begin(_ name: String)
    /// The element that began last ends.
    func end()
    /// A piece of the text of the present element, in UTF-8.
    func text(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Reads XML with libexpat, which opens on first use. No other file uses the library.
enum XMLReader {
    /// Passes the parts of the document to `handler`. Rejects documents that define entities: lists do not need them,
    /// and attacks on memory use them. Throws the fault with its line.
    static func read(_ content: [UInt8], _ handler: any XMLHandler) throws(PlaylistError) {
        guard let library else {
            throw PlaylistError("is XML, and libexpat is not installed; install \(LIBRARY_EXPAT_PACKAGE)")
        }
        guard let parser = library.create(nil) else { throw PlaylistError("cannot be read: no memory left") }
        defer { library.free(parser) }
        let context = Context(parser: parser, handler: handler)
        library.setUserData(parser, Unmanaged.passUnretained(context).toOpaque())
        library.setElementHandler(
            parser,
            { context, name, _ in
                guard let context, let name else { return }
                let whole = String(cString: name)
                Context.of(context).handler.begin(whole.split(separator: ":").last.map(String.init) ?? whole)
            },
            { context, _ in
                guard let context else { return }
                Context.of(context).handler.end()
            })
        library.setCharacterDataHandler(parser) { context, text, count in
            guard let context, let text else { return }
            text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
                Context.of(context).handler.text(UnsafeBufferPointer(start: $0, count: Int(count)))
            }
        }
        library.setStartDoctypeHandler(parser) { context, _, _, _, hasSubset in
            guard let context, hasSubset != 0 else { return }
            Context.of(context).hasEntities = true
            _ = XMLReader.library?.stop(Context.of(context).parser, 0)
        }
        let status = content.withUnsafeBytes {
            library.parse(parser, $0.bindMemory(to: CChar.self).baseAddress, Int32(clamping: $0.count), 1)
        }
        withExtendedLifetime(context) {}
        if context.hasEntities { throw PlaylistError("defines XML entities, which playlists must not do") }
        guard status != XML_STATUS_OK else { return }
        let words = library.errorString(library.errorCode(parser)).map { String(cString: $0) } ?? "not well-formed"
        throw PlaylistError("is not well-formed XML: \(words), line \(library.lineNumber(parser))")
    }

    private final class Context {
        let parser: OpaquePointer
        let handler: any XMLHandler
        var hasEntities = false

        init(parser: OpaquePointer, handler: any XMLHandler) {
            self.parser = parser
            self.handler = handler
        }

        static func of(_ pointer: UnsafeMutableRawPointer) -> Context {
            Unmanaged<Context>.fromOpaque(pointer).takeUnretainedValue()
        }
    }

    /// The functions of the library.
    private struct Library: @unchecked Sendable {
        // @unchecked: addresses of code.
        let create: expat_parser_create
        let free: expat_parser_free
        let setUserData: expat_set_user_data
        let setElementHandler: expat_set_element_handler
        let setCharacterDataHandler: expat_set_character_data_handler
        let setStartDoctypeHandler: expat_set_start_doctype_handler
        let stop: expat_stop_parser
        let parse: expat_parse
        let errorCode: expat_get_error_code
        let errorString: expat_error_string
        let lineNumber: expat_get_current_line_number

        /// Nil: the library is not installed.
        init?() {
            guard let handle = dlopen(LIBRARY_EXPAT_FILE, RTLD_NOW | RTLD_LOCAL) else { return nil }
            func find<Function>(_ name: String, as type: Function.Type) -> Function? {
                dlsym(handle, name).map { unsafeBitCast($0, to: type) }
            }
            guard let create = find("XML_ParserCreate", as: expat_parser_create.self),
                let free = find("XML_ParserFree", as: expat_parser_free.self),
                let setUserData = find("XML_SetUserData", as: expat_set_user_data.self),
                let setElementHandler = find("XML_SetElementHandler", as: expat_set_element_handler.self),
                let setText = find("XML_SetCharacterDataHandler", as: expat_set_character_data_handler.self),
                let setDoctype = find("XML_SetStartDoctypeDeclHandler", as: expat_set_start_doctype_handler.self),
                let stop = find("XML_StopParser", as: expat_stop_parser.self),
                let parse = find("XML_Parse", as: expat_parse.self),
                let errorCode = find("XML_GetErrorCode", as: expat_get_error_code.self),
                let errorString = find("XML_ErrorString", as: expat_error_string.self),
                let lineNumber = find("XML_GetCurrentLineNumber", as: expat_get_current_line_number.self)
            else { return nil }
            self.create = create
            self.free = free
            self.setUserData = setUserData
            self.setElementHandler = setElementHandler
            setCharacterDataHandler = setText
            setStartDoctypeHandler = setDoctype
            self.stop = stop
            self.parse = parse
            self.errorCode = errorCode
            self.errorString = errorString
            self.lineNumber = lineNumber
        }
    }

    private static let library = Library()
}
