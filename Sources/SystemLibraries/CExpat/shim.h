/* Opened on first use and not linked: the types of its functions, as its own header declares them. */
#include <expat.h>
typedef __typeof__(&XML_ParserCreate) expat_parser_create;
typedef __typeof__(&XML_ParserFree) expat_parser_free;
typedef __typeof__(&XML_SetUserData) expat_set_user_data;
typedef __typeof__(&XML_SetElementHandler) expat_set_element_handler;
typedef __typeof__(&XML_SetCharacterDataHandler) expat_set_character_data_handler;
typedef __typeof__(&XML_SetStartDoctypeDeclHandler) expat_set_start_doctype_handler;
typedef __typeof__(&XML_StopParser) expat_stop_parser;
typedef __typeof__(&XML_Parse) expat_parse;
typedef __typeof__(&XML_GetErrorCode) expat_get_error_code;
typedef __typeof__(&XML_ErrorString) expat_error_string;
typedef __typeof__(&XML_GetCurrentLineNumber) expat_get_current_line_number;
