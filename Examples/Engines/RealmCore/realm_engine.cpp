/*
 * Realm core for assay, by its C++ interface: the database under RealmSwift and the other Realm SDKs.
 *
 * All entries are in one dictionary (a Map of RealmSwift) of one object, from strings to binary data. A dictionary
 * is sorted by its keys. Objects have no order, so a range of them would be a query over all of them and a sort.
 * README.md has figures of both.
 *
 * Realm has read, frozen and write transactions, and each sees one version of the file. Exceptions must not cross the C
 * interface: every call of Realm that may throw is made inside `attempt`, except in realm_abort, which catches its own.
 */
#include <assay_engine.h>

#include <realm.hpp>
#include <realm/alloc_slab.hpp>
#include <realm/version.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>

struct assay_store {
    realm::DBRef db;
    /* The keys by which a transaction finds the dictionary. Realm never changes them. */
    realm::TableKey table;
    realm::ObjKey object;
    realm::ColKey column;
};

struct assay_transaction {
    /* Declared before `entries`, and so destroyed after it: the dictionary refers to the transaction. */
    realm::TransactionRef handle;
    realm::Dictionary entries;
    bool is_write;
};

struct assay_cursor {
    const realm::Dictionary *entries;
    /* The places in the dictionary that the scan has not returned yet: `first` ..< `end`, ascending. */
    size_t first, end;
    bool is_backward;
    std::string key;
};

static const char file_name[] = "/data.realm";
/* The object store of the SDKs requires this prefix for the table of a class. */
static const char table_name[] = "class_Store";
static const char column_name[] = "entries";
/* `encoded` makes at most two bytes of a string from a byte of a key. */
static const size_t longest_key = realm::Table::max_string_size / 2;
static const size_t longest_value = realm::Table::max_string_size;

static thread_local char last_text[512];

static int failed(int status, const char *call, const char *text) noexcept {
    snprintf(last_text, sizeof last_text, "%s: %s", call, text);
    return status;
}

/* The status that stands for an exception of Realm. A failed assert of Realm throws nothing: it ends the process. */
static int status_of(const realm::Exception &error) {
    switch (error.code()) {
    /* The adapter opens only files that this version of Realm wrote: an unknown version of the format means damage. */
    case realm::ErrorCodes::InvalidDatabase:
    case realm::ErrorCodes::UnsupportedFileFormatVersion: return ASSAY_CORRUPT;
    case realm::ErrorCodes::OutOfDiskSpace:
    case realm::ErrorCodes::MaximumFileSizeExceeded: return ASSAY_FULL;
    case realm::ErrorCodes::FileOperationFailed:
    case realm::ErrorCodes::PermissionDenied:
    case realm::ErrorCodes::FileNotFound:
    case realm::ErrorCodes::FileAlreadyExists:
    case realm::ErrorCodes::SystemError: {
        auto file = dynamic_cast<const realm::FileAccessError *>(&error);
        return file != nullptr && file->get_errno() == ENOSPC ? ASSAY_FULL : ASSAY_IO;
    }
    default: return ASSAY_OTHER;
    }
}

/* Runs calls of Realm, and returns a status for an exception. */
template <class Body>
static int attempt(const char *call, Body &&body) noexcept {
    try {
        return body();
    } catch (const realm::Exception &error) {
        return failed(status_of(error), call, error.what());
    } catch (const std::system_error &error) {
        return failed(error.code().value() == ENOSPC ? ASSAY_FULL : ASSAY_IO, call, error.what());
    } catch (const std::exception &error) {
        return failed(ASSAY_OTHER, call, error.what());
    } catch (...) {
        return failed(ASSAY_OTHER, call, "an exception that is none of std::exception");
    }
}

/*
 * A byte of a key becomes the character with the number of the byte + 48. Realm's strings are UTF-8, and a dictionary
 * refuses keys that begin with `.` or `$`: both have numbers below 48. UTF-8 sorts as the numbers of its characters do,
 * so that the order of the keys stays.
 */
static const unsigned offset = 48;

static std::string encoded(assay_bytes key) {
    std::string text;
    text.reserve(2 * key.size);
    auto bytes = static_cast<const unsigned char *>(key.data);
    for (size_t place = 0; place < key.size; place++) {
        unsigned character = bytes[place] + offset;
        if (character < 0x80) {
            text += static_cast<char>(character);
        } else {
            text += static_cast<char>(0xC0 | character >> 6);
            text += static_cast<char>(0x80 | (character & 0x3F));
        }
    }
    return text;
}

/*
 * Does not validate: if a damaged file has other bytes in place of a key, they become some key. To detect damage is
 * Realm's task.
 */
static void decode(realm::StringData text, std::string &key) {
    key.clear();
    for (size_t place = 0; place < text.size(); place++) {
        unsigned character = static_cast<unsigned char>(text[place]);
        if (character >= 0x80 && place + 1 < text.size()) {
            character = (character & 0x1F) << 6 | (static_cast<unsigned char>(text[++place]) & 0x3F);
        }
        key += static_cast<char>(character - offset);
    }
}

/* Realm tells null from empty by the pointer alone. */
static realm::BinaryData binary(assay_bytes value) {
    return realm::BinaryData(value.size == 0 ? "" : static_cast<const char *>(value.data), value.size);
}

static assay_bytes bytes(realm::Mixed value) {
    realm::BinaryData data = value.get_binary();
    return assay_bytes{data.data(), data.size()};
}

static bool find(assay_store *store, const realm::Transaction &transaction) {
    if (!transaction.has_table(table_name)) return false;
    realm::ConstTableRef table = transaction.get_table(table_name);
    store->table = table->get_key();
    store->column = table->get_column_key(column_name);
    store->object = table->get_object(0).get_key();
    return true;
}

static void make(assay_store *store) {
    realm::TransactionRef transaction = store->db->start_write();
    /* Another process may have made the table since this one looked. */
    if (find(store, *transaction)) return;
    realm::TableRef table = transaction->add_table(table_name);
    table->add_column_dictionary(realm::type_Binary, column_name);
    table->create_object();
    find(store, *transaction);
    transaction->commit();
}

static int realm_open(const char *directory, uint32_t durability, assay_store **out) {
    return attempt("open", [&]() -> int {
        auto level = durability == ASSAY_FULL_DURABILITY ? realm::DBOptions::Durability::Full
                                                         : realm::DBOptions::Durability::Unsafe;
        auto store = std::make_unique<assay_store>();
        /* The history of the newest changes, which the SDKs keep in every file. */
        store->db = realm::DB::create(
            realm::make_in_realm_history(), std::string(directory) + file_name, realm::DBOptions(level));
        if (!find(store.get(), *store->db->start_read())) make(store.get());
        *out = store.release();
        return ASSAY_OK;
    });
}

static int realm_close(assay_store *store) {
    int status = attempt("close", [&]() -> int {
        store->db->close();
        return ASSAY_OK;
    });
    delete store;
    return status;
}

static int realm_begin(assay_store *store, uint32_t how, assay_transaction **out) {
    return attempt("begin", [&]() -> int {
        auto transaction = std::make_unique<assay_transaction>();
        transaction->is_write = how == ASSAY_WRITE;
        /* A read transaction sees one version too. A frozen one is Realm's kind for long reads. */
        if (transaction->is_write) transaction->handle = store->db->start_write();
        else if (how & ASSAY_SNAPSHOT) transaction->handle = store->db->start_frozen();
        else transaction->handle = store->db->start_read();
        realm::TableRef table = transaction->handle->get_table(store->table);
        transaction->entries = table->get_object(store->object).get_dictionary(store->column);
        *out = transaction.release();
        return ASSAY_OK;
    });
}

/*
 * Ends the transaction, and drops changes that were not committed. It sets no error text: after a failed commit that of
 * the commit stays.
 */
static void realm_abort(assay_transaction *transaction) {
    try {
        transaction->handle->close();
    } catch (...) {
    }
    delete transaction;
}

static int realm_commit(assay_transaction *transaction) {
    int status = attempt("commit", [&]() -> int {
        if (transaction->is_write) transaction->handle->commit();
        return ASSAY_OK;
    });
    realm_abort(transaction);
    return status;
}

static int realm_get(assay_transaction *transaction, assay_bytes key, assay_bytes *value) {
    return attempt("get", [&]() -> int {
        std::string text = encoded(key);
        auto found = transaction->entries.try_get(realm::StringData(text));
        if (!found) return ASSAY_NOT_FOUND;
        /*
         * The bytes are in the mapped file or in memory of the transaction: valid until the transaction ends or writes.
         */
        *value = bytes(*found);
        return ASSAY_OK;
    });
}

static int realm_put(assay_transaction *transaction, assay_bytes key, assay_bytes value) {
    if (key.size > longest_key) return failed(ASSAY_OTHER, "put", "the key is too long");
    if (value.size > longest_value) return failed(ASSAY_OTHER, "put", "the value is too long");
    return attempt("put", [&]() -> int {
        std::string text = encoded(key);
        transaction->entries.insert(realm::StringData(text), binary(value));
        return ASSAY_OK;
    });
}

static int realm_delete(assay_transaction *transaction, assay_bytes key) {
    return attempt("delete", [&]() -> int {
        std::string text = encoded(key);
        return transaction->entries.try_erase(realm::StringData(text)) ? ASSAY_OK : ASSAY_NOT_FOUND;
    });
}

/* The place of the first key that is not below the bound, or if `is_after` of the first key above it. */
static size_t place(const realm::Dictionary &entries, const assay_bytes &bound, bool is_after) {
    std::string text = encoded(bound);
    realm::StringData wanted(text);
    size_t low = 0, high = entries.size();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        realm::StringData key = entries.get_key(middle).get_string();
        if (key < wanted || (is_after && key == wanted)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int realm_scan(
    assay_transaction *transaction, const assay_bytes *from, const assay_bytes *to, int backward, assay_cursor **out) {
    return attempt("scan", [&]() -> int {
        const realm::Dictionary &entries = transaction->entries;
        auto cursor = std::make_unique<assay_cursor>();
        cursor->entries = &entries;
        cursor->is_backward = backward != 0;
        const assay_bytes *lower = backward ? to : from, *upper = backward ? from : to;
        /* In both directions `from` is in the range and `to` is not. */
        cursor->first = lower == nullptr ? 0 : place(entries, *lower, backward != 0);
        cursor->end = upper == nullptr ? entries.size() : place(entries, *upper, backward != 0);
        *out = cursor.release();
        return ASSAY_OK;
    });
}

static int realm_next(assay_cursor *cursor, assay_bytes *key, assay_bytes *value) {
    return attempt("next", [&]() -> int {
        if (cursor->first >= cursor->end) return ASSAY_NOT_FOUND;
        auto entry = cursor->entries->get_pair(cursor->is_backward ? --cursor->end : cursor->first++);
        decode(entry.first.get_string(), cursor->key);
        *key = assay_bytes{cursor->key.data(), cursor->key.size()};
        *value = bytes(entry.second);
        return ASSAY_OK;
    });
}

static void realm_end_scan(assay_cursor *cursor) {
    delete cursor;
}

static const char *realm_error(const assay_store *store) {
    (void)store;
    return last_text;
}

static int realm_compact(assay_store *store) {
    return attempt("compact", [&]() -> int {
        if (store->db->compact()) return ASSAY_OK;
        return failed(ASSAY_BUSY, "compact", "there are transactions, or others who have the file open");
    });
}

static int realm_live_bytes(assay_store *store, uint64_t *bytes) {
    return attempt("live_bytes", [&]() -> int {
        *bytes = store->db->start_read()->get_used_space();
        return ASSAY_OK;
    });
}

static const char *realm_settings(uint32_t durability) {
    switch (durability) {
    case ASSAY_FULL_DURABILITY: return "durability = Full\nhistory = in-realm\nencryption = off\nlayout = dictionary";
    /*
     * Realm has no such class. With Unsafe the system writes in any order, so that a loss of power may leave a damaged
     * file, not just an old one. With DBOptions::enable_async_writes a process that ends loses the commits that are not
     * synced yet.
     */
    case ASSAY_PERIODIC_DURABILITY: return nullptr;
    /* Commits without fsync, in any order. Version 14 still calls msync for each map that it drops. */
    case ASSAY_NO_DURABILITY: return "durability = Unsafe\nhistory = in-realm\nencryption = off\nlayout = dictionary";
    default: return nullptr;
    }
}

static assay_engine_functions made_engine() {
    static char version[32];
    snprintf(
        version, sizeof version, "%d.%d.%d", realm::Version::get_major(), realm::Version::get_minor(),
        realm::Version::get_patch());
    assay_engine_functions engine{};
    engine.abi = ASSAY_ENGINE_ABI;
    engine.size = sizeof engine;
    engine.name = "realm";
    engine.version = version;
    /* Group::verify would be the check, but does nothing unless Realm was built for debugging. */
    engine.capabilities = "persistent snapshots own-writes compaction processes";
    engine.promises =
        "durability | (in other words) transactions are ACID, and a commit is written to disk at once | "
        "Atlas Device SDK for Swift, Write Transactions\n"
        "atomicity | (in other words) all operations of a transaction take effect or none does; no passing state is "
        "seen after a crash of the system | the same\n"
        "isolation serializable | (in other words) one writer at a time; others wait | the same";
    /*
     * A commit is durable in data.realm. A compaction that was killed leaves data.realm.*, which the next one removes.
     */
    engine.files = "data data.realm\nlock data.realm.lock\nlock data.realm.note\nignored data.realm.*";
    engine.longest_key = longest_key;
    engine.longest_value = longest_value;
    engine.allows_empty_key = 1;
    /* The thread that took the writer's lock has to release it. */
    engine.threads = ASSAY_THREAD_PER_TRANSACTION;
    engine.settings = realm_settings;
    engine.open = realm_open;
    engine.close = realm_close;
    engine.begin = realm_begin;
    engine.get = realm_get;
    engine.put = realm_put;
    engine.delete_key = realm_delete;
    engine.scan = realm_scan;
    engine.next = realm_next;
    engine.end_scan = realm_end_scan;
    engine.commit = realm_commit;
    engine.abort = realm_abort;
    engine.last_error = realm_error;
    engine.compact = realm_compact;
    engine.live_bytes = realm_live_bytes;
    return engine;
}

ASSAY_ENGINE_EXPORT const struct assay_engine *assay_engine(uint32_t abi) {
    static const assay_engine_functions engine = made_engine();
    return abi == ASSAY_ENGINE_ABI ? &engine : nullptr;
}
