import CDuckDB
import Platform

/// A handle of the library: a database, a connection, a statement.
typealias DuckDBHandle = UnsafeMutableRawPointer

/// The functions of DuckDB's C interface that the engine calls, by their documented names.
///
/// `@unchecked Sendable`: pointers to code, which do not change.
struct DuckDBFunctions: @unchecked Sendable {
    typealias Place = UnsafeMutablePointer<DuckDBHandle?>
    typealias Text = UnsafePointer<CChar>
    typealias ResultPlace = UnsafeMutablePointer<assay_duckdb_result>
    typealias End = @convention(c) (Place) -> Void
    typealias OfHandle = @convention(c) (DuckDBHandle?) -> DuckDBHandle?
    typealias StateOfHandle = @convention(c) (DuckDBHandle?) -> Int32
    typealias TextOfHandle = @convention(c) (DuckDBHandle?) -> Text?

    let version: @convention(c) () -> Text?
    let createConfig: @convention(c) (Place) -> Int32
    let setConfig: @convention(c) (DuckDBHandle?, Text, Text) -> Int32
    let destroyConfig: End
    let open: @convention(c) (Text, Place, DuckDBHandle?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    let close: End
    let connect: @convention(c) (DuckDBHandle?, Place) -> Int32
    let disconnect: End
    let free: @convention(c) (UnsafeMutableRawPointer?) -> Void

    let query: @convention(c) (DuckDBHandle?, Text, ResultPlace) -> Int32
    let destroyResult: @convention(c) (ResultPlace) -> Void
    let resultError: @convention(c) (ResultPlace) -> Text?
    let resultErrorType: @convention(c) (ResultPlace) -> UInt32
    let fetchChunk: assay_duckdb_fetch_chunk

    let prepare: @convention(c) (DuckDBHandle?, Text, Place) -> Int32
    let prepareError: TextOfHandle
    let destroyPrepare: End
    let bindInteger: @convention(c) (DuckDBHandle?, UInt64, Int64) -> Int32
    let bindReal: @convention(c) (DuckDBHandle?, UInt64, Double) -> Int32
    let bindText: @convention(c) (DuckDBHandle?, UInt64, Text, UInt64) -> Int32
    let bindNull: @convention(c) (DuckDBHandle?, UInt64) -> Int32
    let execute: @convention(c) (DuckDBHandle?, ResultPlace) -> Int32

    let chunkSize: @convention(c) (DuckDBHandle?) -> UInt64
    let setChunkSize: @convention(c) (DuckDBHandle?, UInt64) -> Void
    let resetChunk: @convention(c) (DuckDBHandle?) -> Void
    let vector: @convention(c) (DuckDBHandle?, UInt64) -> DuckDBHandle?
    let createChunk: @convention(c) (Place, UInt64) -> DuckDBHandle?
    let destroyChunk: End
    let vectorData: @convention(c) (DuckDBHandle?) -> UnsafeMutableRawPointer?
    let validity: @convention(c) (DuckDBHandle?) -> UnsafeMutablePointer<UInt64>?
    let makeValidityWritable: @convention(c) (DuckDBHandle?) -> Void
    let assignText: @convention(c) (DuckDBHandle?, UInt64, Text, UInt64) -> Void
    let listChild: OfHandle
    let reserveList: @convention(c) (DuckDBHandle?, UInt64) -> Int32
    let setListSize: @convention(c) (DuckDBHandle?, UInt64) -> Int32
    let vectorSize: @convention(c) () -> UInt64

    let createType: @convention(c) (UInt32) -> DuckDBHandle?
    let createListType: OfHandle
    let destroyType: End

    let createAppender: @convention(c) (DuckDBHandle?, Text?, Text, Place) -> Int32
    let appendChunk: @convention(c) (DuckDBHandle?, DuckDBHandle?) -> Int32
    let closeAppender: StateOfHandle
    let destroyAppender: @convention(c) (Place) -> Int32
    let appenderError: TextOfHandle

    /// Throws the name of a function that the library lacks.
    init(_ library: DuckDBHandle) throws(MissingFunction) {
        func find<Function>(_ name: String, _: Function.Type = Function.self) throws(MissingFunction) -> Function {
            guard let symbol = dlsym(library, "duckdb_" + name) else { throw MissingFunction(name: "duckdb_" + name) }
            return unsafeBitCast(symbol, to: Function.self)
        }
        version = try find("library_version")
        createConfig = try find("create_config")
        setConfig = try find("set_config")
        destroyConfig = try find("destroy_config")
        open = try find("open_ext")
        close = try find("close")
        connect = try find("connect")
        disconnect = try find("disconnect")
        free = try find("free")
        query = try find("query")
        destroyResult = try find("destroy_result")
        resultError = try find("result_error")
        resultErrorType = try find("result_error_type")
        fetchChunk = try find("fetch_chunk")
        prepare = try find("prepare")
        prepareError = try find("prepare_error")
        destroyPrepare = try find("destroy_prepare")
        bindInteger = try find("bind_int64")
        bindReal = try find("bind_double")
        bindText = try find("bind_varchar_length")
        bindNull = try find("bind_null")
        execute = try find("execute_prepared")
        chunkSize = try find("data_chunk_get_size")
        setChunkSize = try find("data_chunk_set_size")
        resetChunk = try find("data_chunk_reset")
        vector = try find("data_chunk_get_vector")
        createChunk = try find("create_data_chunk")
        destroyChunk = try find("destroy_data_chunk")
        vectorData = try find("vector_get_data")
        validity = try find("vector_get_validity")
        makeValidityWritable = try find("vector_ensure_validity_writable")
        assignText = try find("vector_assign_string_element_len")
        listChild = try find("list_vector_get_child")
        reserveList = try find("list_vector_reserve")
        setListSize = try find("list_vector_set_size")
        vectorSize = try find("vector_size")
        createType = try find("create_logical_type")
        createListType = try find("create_list_type")
        destroyType = try find("destroy_logical_type")
        createAppender = try find("appender_create")
        appendChunk = try find("append_data_chunk")
        closeAppender = try find("appender_close")
        destroyAppender = try find("appender_destroy")
        appenderError = try find("appender_error")
    }
}

struct MissingFunction: Error {
    var name: String
}
